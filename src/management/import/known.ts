import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Aggregate } from "../../eventstore/aggregate.ts";
import { claimName } from "../../eventstore/claims.ts";
import type { NewEvent } from "../../eventstore/event.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Foreseen } from "../../eventstore/unit.ts";
import type { Deps } from "../../projection/module.ts";
import { app } from "../../resources/app/index.ts";
import { projectGrants } from "../../resources/grant/index.ts";
import { idp } from "../../resources/idp/index.ts";
import { organization } from "../../resources/org/index.ts";
import { projects } from "../../resources/project/index.ts";
import { idGuard, metadata, user } from "../../resources/user/index.ts";
import type { ClaimChange } from "../../storage/database.ts";
import { columnsWhere, rowsWhere } from "../../projection/rows.ts";
import { claims } from "../../storage/kernel-tables.ts";
import { putRow, type RowChange } from "../../storage/row-change.ts";
import { roleReader } from "./grants.ts";
import type { Known, Note, NoteType, Ref } from "./kind.ts";
import { importNotes } from "./tables.ts";

/** What a batch knows beside the store: its own records before the one at hand and, in a dry run, those of all batches. */
export type Memory = Known & {
  /** Reads at once what the records of a batch refer to. */
  prepare(tx: Transaction, refs: readonly Ref[]): Promise<void>;
  note(notes: readonly Note[]): void;
  /** Keeps what a record claims and, in a dry run, what it would record. */
  keep(claimed: readonly ClaimChange[], recorded: () => readonly Foreseen[]): void;
  /** Refuses what a record of the dry run before has claimed. */
  judge(claimed: readonly ClaimChange[]): Promise<string | undefined>;
  /** Records in a unit that will not be written what units of the dry run before it would have, of these objects. */
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
  const overlay = eventOverlay(noted);
  const newIds = idGuard({ db });
  const isClientId = new Map<string, boolean>();
  // What is kept beyond the unit names nobody, and a claim may hold a name of a person.
  const idOfClaim = isDryRun ? digestOfClaim : claimName;

  async function find(type: NoteType, id: string): Promise<JsonObject | undefined> {
    const ref = { type, id };
    const mine = own.get(nameOf(ref));
    if (mine !== undefined || !isDryRun) return mine?.facts;
    await noted.read([ref]);
    return noted.of(ref);
  }

  async function isClaimed(kind: string, value: string): Promise<boolean> {
    if ((await find("claim", idOfClaim({ scope: instanceId, kind, value }))) !== undefined)
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
      if (isDryRun) await noted.read(refs.filter(({ id }) => id !== "").flatMap(withEvents));
    },

    note(notes) {
      for (const each of notes) own.set(nameOf(each), each);
    },

    keep(claimed, recorded) {
      for (const claim of claimed) {
        this.note([{ type: "claim", id: idOfClaim(claim), facts: { holder: holderOf(claim) } }]);
      }
      if (isDryRun) this.note(recorded().filter(isReadable).map(overlay.add));
    },

    async judge(claimed) {
      if (!isDryRun) return undefined;
      await noted.read(claimed.map((claim) => ({ type: "claim", id: idOfClaim(claim) })));
      for (const claim of claimed) {
        const holder = claim.op === "release" ? undefined : await find("claim", idOfClaim(claim));
        if (holder !== undefined && holder["holder"] !== holderOf(claim)) return claim.kind;
      }
      return undefined;
    },

    async bring(tx, refs) {
      if (isDryRun) for (const ref of refs) await overlay.lay(tx, ref);
    },

    rows: () =>
      isDryRun
        ? [...own.values()].map((note) => putRow(importNotes, { instanceId, importId, ...note }))
        : [],
  };
}

const nameOf = ({ type, id }: Ref) => `${type} ${id}`;

/**
 * What a dry run would have recorded of objects: of units before, which is recorded in this one too where a record refers to them, and of
 * this one.
 */
function eventOverlay(noted: ReturnType<typeof storedNotes>) {
  const brought = new Set<string>();
  const added = new Map<string, NewEvent[]>();
  return {
    async lay(tx: Transaction, ref: Ref): Promise<void> {
      const [, name] = withEvents(ref);
      const aggregate = aggregates[ref.type as keyof typeof aggregates] as Readable | undefined;
      if (aggregate === undefined || name === undefined || brought.has(name.id)) return;
      brought.add(name.id);
      await noted.read([name]);
      const facts = noted.of(name);
      if (facts === undefined) return;
      // What is noted here was recorded by this aggregate.
      const { owner, events } = facts as unknown as Pick<Foreseen, "owner" | "events">;
      const of = aggregate as Aggregate<unknown, NewEvent>;
      tx.record(of, await tx.load(of, ref.id), events, owner);
    },
    add({ aggregateType, id, owner, events }: Foreseen): Note {
      const name = eventsOf(aggregateType, id);
      const before = added.get(name.id) ?? earlier(noted.of(name));
      const all = [...before, ...events];
      added.set(name.id, all);
      return { ...name, facts: { owner, events: all as unknown as JsonObject[] } };
    },
  };
}

const earlier = (facts: JsonObject | undefined): NewEvent[] =>
  (facts?.["events"] ?? []) as unknown as NewEvent[];
const eventsOf = (aggregateType: string, id: string) =>
  ({ type: "events", id: `${aggregateType}/${id}` }) as const;

/** What is noted of what a record refers to. */
const withEvents = (ref: Ref): Ref[] => {
  const aggregate = aggregates[ref.type as keyof typeof aggregates] as Readable | undefined;
  return aggregate === undefined ? [ref] : [ref, eventsOf(aggregate.type, ref.id)];
};

/** What the store has noted of an import; each note, and that there is none, is read once. */
function storedNotes(db: Deps["db"], instanceId: string, importId: string) {
  const noted = new Map<string, JsonObject | undefined>();
  return {
    async read(refs: readonly Ref[]): Promise<void> {
      const unknown = refs.filter((ref) => !noted.has(nameOf(ref)));
      for (const ref of unknown) noted.set(nameOf(ref), undefined);
      const types = new Set(unknown.map(({ type }) => type));
      for (const type of types) {
        const ids = unknown.flatMap((ref) => (ref.type === type ? [ref.id] : []));
        const wanted = { instanceId, importId, type, id: ids };
        const rows = await columnsWhere(db, importNotes, ["id", "facts"], wanted);
        for (const { id, facts } of rows) noted.set(nameOf({ type, id }), facts);
      }
    },
    of: (ref: Ref) => noted.get(nameOf(ref)),
  };
}

type Readable = (typeof aggregates)[keyof typeof aggregates];
const readable = new Set(Object.values(aggregates).map(({ type }) => type));
const isReadable = ({ aggregateType }: Foreseen): boolean => readable.has(aggregateType);

// Each aggregate is read as its own; the list holds them together.
const readAll = (tx: Transaction, aggregate: Readable, ids: string[]): Promise<void> =>
  tx.loadAll(aggregate as Aggregate<unknown, NewEvent>, ids);

const digestOfClaim = (claim: Parameters<typeof claimName>[0]): string =>
  hash("sha256", claimName(claim), "base64url");
const holderOf = ({ holderType, holderId }: ClaimChange): string => `${holderType}/${holderId}`;
