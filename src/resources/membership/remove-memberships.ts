import type { Reaction } from "../../eventstore/settle.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { byDecision, removal } from "../object/removal.ts";
import { cascadeMember, membership } from "./membership.ts";
import { memberships } from "./projection.ts";

type Parts = Pick<Deps, "db" | "events">;

const membershipRemoval = (parts: Parts) =>
  removal(parts, memberships, byDecision(membership, cascadeMember));

/**
 * Memberships go with users, projects and project grants. If one is given meanwhile, the decision is taken again.
 * @param grantEnds the types of events that end a project grant
 */
export const membershipsGoAlong = (parts: Parts, grantEnds: readonly string[]): Reaction =>
  membershipRemoval(parts).goWith({
    "user.removed": (userId) => ({ userId }),
    "project.removed": (contextId) => ({ contextType: "project", contextId }),
    ...Object.fromEntries(grantEnds.map((type) => [type, inGrant])),
  });

const inGrant = (contextId: string) => ({ contextType: "projectGrant", contextId });

/** Ends memberships in an organization that goes and in what is below it. */
export const removeContentsOfMemberships = (parts: Parts): RemoveContents =>
  membershipRemoval(parts).contents;
