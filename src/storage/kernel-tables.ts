import {
  bytes,
  instant,
  int,
  int64,
  json,
  optionalBytes,
  optionalInstant,
  optionalText,
  table,
  text,
} from "./table.ts";

/** Facts, append-only. `sequence` is the position in the instance's log, in commit order (C1, C9). */
export const events = table(
  "events",
  {
    instanceId: text(),
    sequence: int64(),
    aggregateType: text(),
    aggregateId: text(),
    aggregateVersion: int64(),
    type: text(),
    revision: int(),
    payload: json<unknown>(),
    ownerType: text(),
    ownerId: text(),
    editorId: text(),
    service: text(),
    clientId: text(),
    requestId: text(),
    createdAt: instant(),
    /** Who was there (`origins`); nothing in events of the service itself, and of before there were origins. */
    originId: optionalText(),
  },
  {
    key: ["instanceId", "sequence"],
    indexes: [
      { columns: ["instanceId", "aggregateType", "aggregateId", "aggregateVersion"], unique: true },
    ],
  },
);

/**
 * Who was there when events were written (L4): one row for many events, since it is the same for a whole session.
 * `sealed` holds address and browser under the key of `keyType` and `keyId`, a user or a span of time.
 */
export const origins = table(
  "origins",
  {
    instanceId: text(),
    id: text(),
    personId: optionalText(),
    sessionId: optionalText(),
    flowId: optionalText(),
    familyId: optionalText(),
    actorIds: json<readonly string[]>(),
    keyType: text(),
    keyId: text(),
    sealed: optionalBytes(),
    createdAt: instant(),
  },
  { key: ["instanceId", "id"] },
);

/** The head of each instance's log. */
export const sequences = table(
  "sequences",
  { instanceId: text(), last: int64(), changedAt: instant() },
  { key: ["instanceId"] },
);

/** Uniqueness claims (C4). The scope is an instance id, or empty for the whole system. */
export const claims = table(
  "claims",
  { scope: text(), kind: text(), value: text(), holderType: text(), holderId: text() },
  {
    key: ["scope", "kind", "value"],
    indexes: [{ columns: ["scope", "holderType", "holderId", "kind"] }],
  },
);

/**
 * Long-lived secret material (C7): no projection, never rebuilt, in every backup. `digest` finds a random
 * secret by its keyed hash, `sealed` holds encrypted bytes, `hash` a password hash.
 */
export const secrets = table(
  "secrets",
  {
    instanceId: text(),
    ownerType: text(),
    ownerId: text(),
    kind: text(),
    id: text(),
    digest: optionalText(),
    sealed: optionalBytes(),
    keyId: text(),
    createdAt: instant(),
    expiresAt: optionalInstant(),
  },
  {
    key: ["instanceId", "ownerType", "ownerId", "kind", "id"],
    indexes: [{ columns: ["instanceId", "kind", "digest"] }],
    cachedBy: "kind",
  },
);

/** How far each slow consumer has read each instance's log. */
export const cursors = table(
  "cursors",
  { name: text(), instanceId: text(), position: int64() },
  { key: ["name", "instanceId"] },
);

/** Who does what only one process may do; see `lease.ts`. */
export const leases = table(
  "leases",
  { name: text(), holder: text(), token: int64(), expires: instant() },
  { key: ["name"] },
);

/** Row totals kept by triggers for tables that declare `countedBy`. */
export const rowCounts = table(
  "row_counts",
  { tableName: text(), counted: text(), rows: int64() },
  { key: ["tableName", "counted"] },
);

/** Which shape each table has, so that a changed projection is rebuilt and a newer store is refused. */
export const storeTables = table(
  "store_tables",
  { name: text(), role: text(), shape: text() },
  { key: ["name"] },
);

export const storeFacts = table("store_facts", { name: text(), value: bytes() }, { key: ["name"] });

export const kernelTables = [
  events,
  origins,
  sequences,
  claims,
  secrets,
  cursors,
  leases,
  rowCounts,
  storeTables,
  storeFacts,
];
