import assert from "node:assert/strict";
import { DomainError } from "../../src/errors.ts";
import type { MigratableDatabase, StoredEvent, Unit } from "../../src/storage/database.ts";
import { events } from "../../src/storage/kernel-tables.ts";
import type { Schema } from "../../src/storage/schema.ts";
import {
  bool,
  bytes,
  instant,
  int,
  int64,
  json,
  optionalBytes,
  optionalInstant,
  optionalJson,
  optionalText,
  table,
  text,
} from "../../src/storage/table.ts";

/** The refusal that an error is, or that a query of drizzle failed with. */
export function refusalOf(error: unknown): DomainError {
  const refusal: unknown = error instanceof DomainError ? error : Object(error).cause;
  assert.ok(refusal instanceof DomainError, String(error));
  return refusal;
}

/** Somewhere an empty store can be made; what each database supplies to the contract. */
export type Place = AsyncDisposable & {
  open(schema: Schema): Promise<MigratableDatabase>;
  /** Runs a statement beside the service, as a person with access to the database could. */
  execute(statement: string): Promise<void>;
  /** A statement of the dialect that puts another row in the place of the first event of instance "one". */
  replaceEvent: string;
};

/** A projection whose rows are counted. */
export const notes = table(
  "notes",
  { instanceId: text(), id: text(), body: text(), sequence: int64() },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "body"] }],
    countedBy: "instanceId",
  },
);

/** Short-lived state with a column of every kind. */
export const samples = table(
  "samples",
  {
    id: text(),
    int: int(),
    int64: int64(),
    flag: bool(),
    data: json<unknown>(),
    at: instant(),
    raw: bytes(),
    maybeText: optionalText(),
    maybeData: optionalJson<unknown>(),
    maybeAt: optionalInstant(),
    maybeRaw: optionalBytes(),
  },
  { key: ["id"] },
);

export const schema: Schema = { state: [samples], projections: [notes] };

export const someSample = {
  id: "s",
  int: 1,
  int64: 1n,
  flag: true,
  data: {},
  at: new Date(0),
  raw: new Uint8Array(),
};

/** An event of the aggregate `note`. */
export const happened = (
  aggregateId: string,
  aggregateVersion: bigint,
  part: Partial<StoredEvent> = {},
): StoredEvent => ({
  aggregateType: "note",
  aggregateId,
  aggregateVersion,
  type: "note.added",
  revision: 1,
  payload: {},
  ownerType: "instance",
  ownerId: "one",
  originId: null,
  editorId: "editor",
  service: "test",
  clientId: "",
  requestId: "request",
  createdAt: new Date(1_700_000_000_000),
  ...part,
});

export const unit = (part: Partial<Unit>): Unit => ({
  instanceId: "one",
  expect: [],
  claims: [],
  events: [],
  changes: [],
  ...part,
});

/** The log of an instance: what, which version, at which sequence. */
export async function logOf(db: MigratableDatabase, instanceId = "one") {
  const t = db.table(events);
  const rows = await db.read.select().from(t).orderBy(t.sequence);
  return rows
    .filter((row) => row.instanceId === instanceId)
    .map((row) => ({
      id: row.aggregateId,
      version: row.aggregateVersion,
      sequence: row.sequence,
    }));
}
