import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Aggregate } from "../../eventstore/aggregate.ts";
import type { NewEvent } from "../../eventstore/event.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { addApp, app } from "../../resources/app/index.ts";
import {
  addProjectGrant,
  projectGrants,
  roles as projectRoles,
} from "../../resources/grant/index.ts";
import { idp } from "../../resources/idp/index.ts";
import { addOrganization, organization } from "../../resources/org/index.ts";
import { projects } from "../../resources/project/index.ts";
import {
  addUser,
  builtInData,
  idGuard,
  linkIdp,
  metadata,
  user,
} from "../../resources/user/index.ts";
import type { ClaimChange } from "../../storage/database.ts";
import { and, eq, inArray } from "../../storage/drizzle.ts";
import { claims } from "../../storage/kernel-tables.ts";
import { putRow, type RowChange } from "../../storage/row-change.ts";
import { textIn } from "../convert.ts";
import type { Known, Note, NoteType, Ref } from "./kind.ts";
import { importNotes } from "./tables.ts";

/** What a batch knows beside the store: its own records before the one at hand and, in a dry run, those of all batches. */
export type Memory = Known & {
  /** Reads at once what the records of a batch refer to. */
  prepare(tx: Transaction, refs: readonly Ref[]): Promise<void>;
  keep(notes: readonly Note[], claimed: readonly ClaimChange[]): void;
  /** Refuses what a record of the dry run before has claimed. */
  judge(claimed: readonly ClaimChange[]): Promise<string | undefined>;
  /** Lays into a unit that will not be written what only the dry run knows. */
  bring(tx: Transaction, refs: readonly Ref[]): Promise<void>;
  /** What later batches of a dry run need to know. */
  rows(): RowChange[];
};

// Of what others refer to, that which is loaded; the rest stands in tables or only in notes.
const aggregates = {
  organization,
  project: projects.aggregate,
  app,
  user,
  idp,
  projectGrant: projectGrants.aggregate,
  metadata,
} satisfies Partial<Record<NoteType, unknown>>;

export function createMemory(
  { db }: Pick<Deps, "db">,
  { instanceId, importId, isDryRun }: { instanceId: string; importId: string; isDryRun: boolean },
): Memory {
  const own = new Map<string, Note>();
  const noted = storedNotes(db, instanceId, importId);
  const storedRoles = roleReader(db, instanceId);
  const newIds = idGuard({ db });
  const isClientId = new Map<string, boolean>();

  async function find(type: NoteType, id: string): Promise<JsonObject | undefined> {
    const ref = { type, id };
    const mine = own.get(nameOf(ref));
    if (mine !== undefined || !isDryRun) return mine?.facts;
    await noted.read([ref]);
    return noted.of(ref);
  }

  async function isClaimed(kind: string, value: string): Promise<boolean> {
    if ((await find("claim", claimId({ scope: instanceId, kind, value }))) !== undefined)
      return true;
    return isClaimStored(db, instanceId, kind, value);
  }

  return {
    find,
    isClaimed,
    isClientId: (id) => isClientId.get(id),
    async roleKeys(projectId, keys) {
      const stored = await storedRoles(projectId, keys);
      const known: string[] = [];
      for (const key of new Set(keys)) {
        const isThere = stored.has(key);
        if (isThere || (await find("role", `${projectId}/${key}`)) !== undefined) known.push(key);
      }
      return known;
    },

    async prepare(tx, refs) {
      for (const [type, aggregate] of Object.entries(aggregates)) {
        const ids = refs.flatMap((ref) => (ref.type === type && ref.id !== "" ? [ref.id] : []));
        if (ids.length > 0) await readAll(tx, aggregate, ids);
      }
      const asNew = refs.flatMap(({ id, isNew }) => (isNew === true && id !== "" ? [id] : []));
      const clientIds = await newIds.readAll(tx, instanceId, asNew);
      for (const id of asNew) isClientId.set(id, clientIds.has(id));
      if (isDryRun) await noted.read(refs.filter(({ id }) => id !== ""));
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
      await noted.read(claimed.map((claim) => ({ type: "claim", id: claimId(claim) })));
      for (const claim of claimed) {
        const holder = claim.op === "release" ? undefined : await find("claim", claimId(claim));
        if (holder !== undefined && holder["holder"] !== holderOf(claim)) return claim.kind;
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

const nameOf = ({ type, id }: Ref) => `${type} ${id}`;

/** What the store has noted of an import; each note, and that there is none, is read once. */
function storedNotes(db: Deps["db"], instanceId: string, importId: string) {
  const n = db.table(importNotes);
  const noted = new Map<string, JsonObject | undefined>();
  return {
    async read(refs: readonly Ref[]): Promise<void> {
      const unknown = refs.filter((ref) => !noted.has(nameOf(ref)));
      for (const ref of unknown) noted.set(nameOf(ref), undefined);
      const types = new Set(unknown.map(({ type }) => type));
      for (const type of types) {
        const ids = unknown.flatMap((ref) => (ref.type === type ? [ref.id] : []));
        const ofImport = and(eq(n.instanceId, instanceId), eq(n.importId, importId));
        const rows = await db.read
          .select({ id: n.id, facts: n.facts })
          .from(n)
          .where(and(ofImport, eq(n.type, type), inArray(n.id, ids)));
        for (const { id, facts } of rows) noted.set(nameOf({ type, id }), facts);
      }
    },
    of: (ref: Ref) => noted.get(nameOf(ref)),
  };
}

async function isClaimStored(
  db: Deps["db"],
  instanceId: string,
  kind: string,
  value: string,
): Promise<boolean> {
  const c = db.table(claims);
  const rows = await db.read
    .select({ kind: c.kind })
    .from(c)
    .where(and(eq(c.scope, instanceId), eq(c.kind, kind), eq(c.value, value)));
  return rows.length > 0;
}

/** Which of these roles of a project the store has; each is read once. */
function roleReader(db: Deps["db"], instanceId: string) {
  const r = db.table(projectRoles.table);
  const roles = new Map<string, boolean>();
  return async (projectId: string, keys: readonly string[]): Promise<ReadonlySet<string>> => {
    const nameOfRole = (key: string) => `${projectId}/${key}`;
    const unknown = keys.filter((key) => !roles.has(nameOfRole(key)));
    if (unknown.length > 0) {
      const ofProject = and(eq(r.instanceId, instanceId), eq(r.projectId, projectId));
      const rows = await db.read
        .select({ key: r.key })
        .from(r)
        .where(and(ofProject, inArray(r.key, unknown)));
      const found = new Set(rows.map(({ key }) => key));
      for (const key of unknown) roles.set(nameOfRole(key), found.has(key));
    }
    return new Set(keys.filter((key) => roles.get(nameOfRole(key)) === true));
  };
}

type Readable = (typeof aggregates)[keyof typeof aggregates];

// Each aggregate is read as its own; the list holds them together.
const readAll = (tx: Transaction, aggregate: Readable, ids: string[]): Promise<void> =>
  tx.loadAll(aggregate as Aggregate<unknown, NewEvent>, ids);

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
      const loaded = await tx.load(projects.aggregate, id);
      if (loaded.state !== undefined) return;
      const off = {
        roleAssertion: false,
        authorizationRequired: false,
        projectAccessRequired: false,
      };
      return tx.record(
        projects.aggregate,
        loaded,
        projects.add(undefined, { name: "", ...off }),
        owner,
      );
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
      const has = state?.authenticators.some(
        (authenticator) => authenticator.kind === "idp" && authenticator.id === idpId,
      );
      if (!has) await linkIdp(tx, userId, { idpId, externalUserId, username: "" });
      return;
    }
    case "projectGrant": {
      const loaded = await tx.load(projectGrants.aggregate, id);
      if (loaded.state !== undefined) return;
      const roleKeys = Array.isArray(facts["roleKeys"]) ? facts["roleKeys"].map(String) : [];
      const [projectId, grantedOrganizationId] = [text("projectId"), text("grantedOrganizationId")];
      const added = addProjectGrant(undefined, { projectId, grantedOrganizationId, roleKeys });
      return tx.record(projectGrants.aggregate, loaded, added, owner);
    }
    default:
  }
}
