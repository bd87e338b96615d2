import type { Deps } from "../../../projection/module.ts";
import { byDecision, removal } from "../../object/removal.ts";
import { cascadeUserGrant, loseUserRoles, userGrantRoles, userGrants } from "./user-grant.ts";

type Parts = Pick<Deps, "db" | "events">;

/** User grants go with their users, projects, project grants and organizations. */
export const userGrantRemoval = (parts: Parts) =>
  removal(parts, userGrants.table, byDecision(userGrants.aggregate, cascadeUserGrant));

/** User grants lose roles with their project or project grant: those that have one of them, by the key of a role. */
export const roleLoss = (parts: Parts, lost: readonly string[]) =>
  removal(
    parts,
    userGrantRoles,
    byDecision(userGrants.aggregate, (state) => loseUserRoles(state, lost)),
    { idColumn: "userGrantId" },
  );
