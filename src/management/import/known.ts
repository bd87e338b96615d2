import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { addApp, app } from "../../resources/app/index.ts";
import { addProjectGrant, projectGrant, projectRoles } from "../../resources/grant/index.ts";
import { addOrganization, organization } from "../../resources/org/index.ts";
import { addProject, project } from "../../resources/project/index.ts";
import { addUser, builtInData, linkIdp, user } from "../../resources/user/index.ts";
import type { ClaimChange } from "../../storage/database.ts";
import { and, eq, inArray } from "../../storage/drizzle.ts";
import { claims } from "../../storage/kernel-tables.ts";
import { putRow, type RowChange } from "../../storage/row-change.ts";
import { textIn } from "../convert.ts";
import type { Known, Note, NoteType, Ref } from "./kind.ts";
import { importNotes } from "./tables.ts";

/** What a batch knows beside the store: its own records before the one at hand and, in a dry run, those of all batches. */
export type Memory = Known & {
  keep(notes: readonly Note[], claimed: readonly ClaimChange[]): void;
  /** Refuses what a record of the dry run before has claimed. */
  judge(claimed: readonly ClaimChange[]): Promise<string | undefined>;
  /** Lays into a unit that will not be written what only the dry run knows. */
  bring(tx: Transaction, refs: readonly Ref[]): Promise<void>;
  /** What later batches of a dry run need to know. */
  rows(): RowChange[];
};

export function createMemory(
  { db }: Pick<Deps, "db">,
  { instanceId, importId, isDryRun }: { instanceId: string; importId: string; isDryRun: boolean },
): Memory {
  const own = new Map<string, Note>();
  const n = db.table(importNotes);
  const r = db.table(projectRoles);
  const c = db.table(claims);
  const nameOf = ({ type, id }: Ref) => `${type} ${id}`;

  async function find(type: NoteType, id: string): Promise<JsonObject | undefined> {
    const mine = own.get(nameOf({ type, id }));
    if (mine !== undefined || !isDryRun) return mine?.facts;
    const ofImport = and(eq(n.instanceId, instanceId), eq(n.importId, importId));
    const [row] = await db.read
      .select({ facts: n.facts })
      .from(n)
      .where(and(ofImport, eq(n.type, type), eq(n.id, id)));
    return row?.facts;
  }

  async function isClaimed(kind: string, value: string): Promise<boolean> {
    if ((await find("claim", claimId({ scope: instanceId, kind, value }))) !== undefined)
      return true;
    const rows = await db.read
      .select({ kind: c.kind })
      .from(c)
      .where(and(eq(c.scope, instanceId), eq(c.kind, kind), eq(c.value, value)));
    return rows.length > 0;
  }

  return {
    find,
    isClaimed,
    async roleKeys(projectId, keys) {
      if (keys.length === 0) return [];
      const rows = await db.read
        .select({ key: r.key })
        .from(r)
        .where(
          and(eq(r.instanceId, instanceId), eq(r.projectId, projectId), inArray(r.key, [...keys])),
        );
      const found = new Set(rows.map(({ key }) => key));
      for (const key of keys) {
        if ((await find("role", `${projectId}/${key}`)) !== undefined) found.add(key);
      }
      return [...found];
    },

    keep(notes, claimed) {
      for (const note of notes) own.set(nameOf(note), note);
      for (const claim of claimed) {
        if (claim.op === "release") continue;
        const note: Note = {
          type: "claim",
          id: claimId(claim),
          facts: { holder: holderOf(claim) },
        };
        own.set(nameOf(note), note);
      }
    },

    async judge(claimed) {
      if (!isDryRun) return undefined;
      for (const claim of claimed) {
        const held = claim.op === "release" ? undefined : await find("claim", claimId(claim));
        if (held !== undefined && held["holder"] !== holderOf(claim)) return claim.kind;
      }
      return undefined;
    },

    async bring(tx, refs) {
      if (!isDryRun) return;
      for (const { type, id } of refs) {
        const facts = id === "" ? undefined : await find(type, id);
        if (facts !== undefined) await lay(tx, instanceId, { type, id, facts });
      }
    },

    rows: () =>
      isDryRun
        ? [...own.values()].map((note) => putRow(importNotes, { instanceId, importId, ...note }))
        : [],
  };
}

// A claim may hold a name of a person: what is noted of it names nobody.
const claimId = ({ scope, kind, value }: Pick<ClaimChange, "scope" | "kind" | "value">): string =>
  hash("sha256", JSON.stringify([scope, kind, value]), "base64url");
const holderOf = ({ holderType, holderId }: ClaimChange): string => `${holderType}/${holderId}`;

/** Makes an object in a unit as far as others refer to it. */
async function lay(tx: Transaction, instanceId: string, { type, id, facts }: Note): Promise<void> {
  const text = (name: string) => textIn(facts, name);
  const owner = { type: "org", id: text("orgId") } as const;
  switch (type) {
    case "organization": {
      const loaded = await tx.load(organization, id);
      if (loaded.state !== undefined) return;
      const added = addOrganization(undefined, {
        name: text("name"),
        domain: text("domain"),
        domainId: id,
      });
      return tx.record(organization, loaded, added, { type: "instance", id: instanceId });
    }
    case "project": {
      const loaded = await tx.load(project, id);
      if (loaded.state !== undefined) return;
      const off = {
        roleAssertion: false,
        authorizationRequired: false,
        projectAccessRequired: false,
      };
      return tx.record(project, loaded, addProject(undefined, { name: "", ...off }), owner);
    }
    case "app": {
      const loaded = await tx.load(app, id);
      if (loaded.state !== undefined) return;
      const projectId = text("projectId");
      const config = { kind: "api", api: { authMethodType: "basic" } } as const;
      const added = addApp(undefined, { projectId, name: "", clientId: text("clientId"), config });
      return tx.record(app, loaded, added, owner);
    }
    case "user": {
      const loaded = await tx.load(user, id);
      if (loaded.state !== undefined) return;
      const asData = builtInData(text("schema") === "machine" ? "machine" : "human", {});
      const added = addUser(loaded, { ...asData, organizationId: owner.id, username: "" });
      return tx.record(user, loaded, added, owner);
    }
    case "userLink": {
      const [userId, idpId, externalUserId] = [
        text("userId"),
        text("idpId"),
        text("externalUserId"),
      ];
      const { state } = await tx.load(user, userId);
      const has = state?.authenticators.some((held) => held.kind === "idp" && held.id === idpId);
      if (!has) await linkIdp(tx, userId, { idpId, externalUserId, username: "" });
      return;
    }
    case "projectGrant": {
      const loaded = await tx.load(projectGrant, id);
      if (loaded.state !== undefined) return;
      const roleKeys = Array.isArray(facts["roleKeys"]) ? facts["roleKeys"].map(String) : [];
      const [projectId, grantedOrganizationId] = [text("projectId"), text("grantedOrganizationId")];
      const added = addProjectGrant(undefined, { projectId, grantedOrganizationId, roleKeys });
      return tx.record(projectGrant, loaded, added, owner);
    }
    default:
  }
}
