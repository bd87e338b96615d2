import type { JsonObject } from "@bufbuild/protobuf";
import type { Initiator } from "../../eventstore/transaction.ts";
import type { Presence, Seen } from "../../eventstore/presence.ts";
import {
  bool,
  instant,
  int,
  json,
  optionalBytes,
  optionalInstant,
  optionalJson,
  optionalText,
  table,
  text,
} from "../../storage/table.ts";

export type ImportState = "receiving" | "running" | "paused" | "cancelled" | "completed" | "failed";

/** Who was there when the import was asked for, but for what was seen of them, which is sealed. */
type ImportedFrom = Omit<Presence, keyof Seen | "isVisitor">;

/** Bulk imports, until their reports expire. */
export const imports = table(
  "imports",
  {
    instanceId: text(),
    id: text(),
    state: text(),
    isDryRun: bool(),
    total: int(),
    created: int(),
    existed: int(),
    refused: int(),
    /** Whoever imports, as the events of the import name them. */
    importedBy: json<Initiator>(),
    /** The presence that the events of the import carry; what was seen is sealed as in origins (L4). */
    importedFrom: optionalJson<ImportedFrom>(),
    keyType: optionalText(),
    keyId: optionalText(),
    sealed: optionalBytes(),
    creationDate: instant(),
    changeDate: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "creationDate", "id"] }, { columns: ["expiresAt"] }],
  },
);

/** What became of one record; members are short, since there may be millions. */
export type RecordOutcome = {
  /** Its position in what was received. */
  at: number;
  org: string;
  id: string;
  is: "created" | "existed" | "refused";
  reason?: string;
  field?: string;
  message?: string;
};

/**
 * Records of one kind that are imported as one unit, in the order of rank and number. What they bring stands sealed among
 * the secrets of the import until they are done.
 */
export const importBatches = table(
  "import_batches",
  {
    instanceId: text(),
    importId: text(),
    rank: int(),
    number: int(),
    kind: text(),
    count: int(),
    outcomes: json<RecordOutcome[]>(),
    doneAt: optionalInstant(),
  },
  { key: ["instanceId", "importId", "rank", "number"] },
);

/** What a dry run has foreseen and later records of it may refer to; nothing of it is in the store. */
export const importNotes = table(
  "import_notes",
  {
    instanceId: text(),
    importId: text(),
    type: text(),
    id: text(),
    facts: json<JsonObject>(),
  },
  { key: ["instanceId", "importId", "type", "id"] },
);

export const importTables = [imports, importBatches, importNotes];
