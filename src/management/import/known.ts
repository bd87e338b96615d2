import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Aggregate } from "../../eventstore/aggregate.ts";
import type { NewEvent, OwnerRef } from "../../eventstore/event.ts";
import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
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
import { equals, rowsWhere } from "../../projection/rows.ts";
import { and, inArray } from "../../storage/drizzle.ts";
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
    return (await rowsWhere(db, claims, { scope: instanceId, kind, value })).length > 0;
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
        const ofType = equals(db, importNotes, { instanceId, importId, type });
        const rows = await db.read
          .select({ id: n.id, facts: n.facts })
          .from(n)
          .where(and(ofType, inArray(n.id, ids)));
        for (const { id, facts } of rows) noted.set(nameOf({ type, id }), facts);
      }
    },
    of: (ref: Ref) => noted.get(nameOf(ref)),
  };
}

/** Which of these roles of a project the store has; each is read once. */
function roleReader(db: Deps["db"], instanceId: string) {
  const r = db.table(projectRoles.table);
  const roles = new Map<string, boolean>();
  return async (projectId: string, keys: readonly string[]): Promise<ReadonlySet<string>> => {
    const nameOfRole = (key: string) => `${projectId}/${key}`;
    const unknown = keys.filter((key) => !roles.has(nameOfRole(key)));
    if (unknown.length > 0) {
      const ofProject = equals(db, projectRoles.table, { instanceId, projectId });
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
  const owner: OwnerRef =
    type === "organization"
      ? { type: "instance", id: instanceId }
      : { type: "org", id: text("orgId") };
  const begin = async <S, E extends NewEvent>(
    aggregate: Aggregate<S | undefined, E>,
    make: () => E[],
  ) =>
    void (await decideOn(tx, aggregate, id, (state) => (state === undefined ? make() : []), owner));
  switch (type) {
    case "organization": {
      const of = { name: text("name"), domain: text("domain"), domainId: id };
      return begin(organization, () => addOrganization(undefined, of));
    }
    case "project": {
      const off = {
        roleAssertion: false,
        authorizationRequired: false,
        projectAccessRequired: false,
      };
      return begin(projects.aggregate, () => projects.add(undefined, { name: "", ...off }));
    }
    case "app": {
      const config = { kind: "api", api: { authMethodType: "basic" } } as const;
      const of = { projectId: text("projectId"), name: "", clientId: text("clientId"), config };
      return begin(app, () => addApp(undefined, of));
    }
    case "user": {
      const loaded = await tx.load(user, id);
      const asData = builtInData(text("schema") === "machine" ? "machine" : "human", {});
      const of = { ...asData, organizationId: owner.id, username: "" };
      return begin(user, () => addUser(loaded, of));
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
      const roleKeys = Array.isArray(facts["roleKeys"]) ? facts["roleKeys"].map(String) : [];
      const [projectId, grantedOrganizationId] = [text("projectId"), text("grantedOrganizationId")];
      const of = { projectId, grantedOrganizationId, roleKeys };
      return begin(projectGrants.aggregate, () => addProjectGrant(undefined, of));
    }
    default:
  }
}
