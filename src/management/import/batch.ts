import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { DomainError, invalidArgument } from "../../errors.ts";
import type { Presence } from "../../eventstore/presence.ts";
import { beginSeries, type Holders, holdersOf, type Series } from "../../eventstore/series.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import type { RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { type ClaimChange, ClaimTaken } from "../../storage/database.ts";
import { type RowChange, updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import { checkStorable } from "../../storage/texts.ts";
import { createYielder } from "../../yielder.ts";
import type { Kind, Made, ImportContext, Write } from "./kind.ts";
import { createMemory, type Memory } from "./known.ts";
import { type RankedKind, whyUnsupported } from "./kinds.ts";
import { payloadId, payloadRef, type Received, unpackRecords } from "./payload.ts";
import { idOfUnread } from "./record-id.ts";
import { importBatches, imports, type RecordOutcome } from "./tables.ts";

// Others may take claims between reading who holds them and the commit.
const mostTries = 4;

/** An import, and who asked for it. */
export type Import = Row<typeof imports> & { presence?: Presence };
export type Batch = Pick<
  Row<typeof importBatches>,
  "instanceId" | "importId" | "rank" | "number" | "kind" | "outcomes"
>;

/** A batch that was read, and what is costly about its records done once, however often a unit is tried. */
export type ReadyBatch = {
  batch: Batch;
  begun: readonly Begun[];
  /** Whether its kind is one whose parts may be decided while others are written (`Kind`). */
  isIndependent: boolean;
};

/** Records of a batch that are written as one unit. */
export type Part = { of: ReadyBatch; from: number; records: number };

/** How far an import is once a part is written: how many records came to what, and what became of those of the batch of the part. */
export type Progress = Record<RecordOutcome["is"], number> & { outcomes: RecordOutcome[] };

/** What imports ask of the service, beside what every slice may use. */
export type ImportPorts = {
  /**
   * Reads a message from the bytes of its JSON, as the API reads requests, and holds it to the rules of the schema. Fields
   * that it does not have are passed over.
   * @throws INVALID_ARGUMENT MALFORMED_JSON, INVALID_JSON_FIELD, VALIDATION_FAILED and their like
   */
  readMessage: <D extends DescMessage>(type: D, json: Uint8Array) => Promise<MessageShape<D>>;
  /** Has what `readMessage` judges by loaded, which a process that has judged nothing yet takes tens of milliseconds for. */
  loadJudge: () => void;
};
export type ImportDeps = Deps & ImportPorts;

/**
 * Works on batches in parts, each of which is one unit with what became of its records. A dry run takes the same decisions
 * on the same records and writes nothing but what came of them.
 */
export function batchWorker(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>) {
  const { db, events, secrets } = deps;
  const yielder = createYielder();

  async function recordsOf({ instanceId, importId, ...batch }: Batch): Promise<Received[]> {
    const packed = await secrets.open(payloadRef(instanceId, importId, payloadId(batch)));
    if (packed === undefined) throw new Error("a batch that waits has lost its records");
    return unpackRecords(packed);
  }

  async function decide(tx: Transaction, series: Series, known: Known, part: readonly Begun[]) {
    const memory = createMemory(deps, known);
    for (const { unit } of part) unit.memory = memory;
    await memory.prepare(
      tx,
      part.flatMap(({ refs }) => refs),
    );
    const outcomes: RecordOutcome[] = [];
    for (const each of part) {
      outcomes.push(await settle(tx, series, each, memory));
      await yielder.yieldIfDue();
    }
    return { outcomes, rows: memory.rows() };
  }

  return {
    async prepare(batch: Batch): Promise<ReadyBatch> {
      const { instanceId, kind: name } = batch;
      const kind = kinds.get(name);
      const begun: Begun[] = [];
      for (const record of await recordsOf(batch)) {
        begun.push(await begin(deps, kind ?? name, record, instanceId));
        await yielder.yieldIfDue();
      }
      return { batch, begun, isIndependent: kind?.isIndependent === true };
    },

    /**
     * Works on a part of a batch. It may be decided and put together while the one before is written; it is written after it.
     *
     * @param before how far the import is without it
     * @param handedOver called when all that is left is to write it, each time that it is tried
     * @returns how far the import is with it
     */
    async work(
      job: RunningJob<unknown>,
      of: Import,
      { of: { batch, begun }, from, records }: Part,
      { before, handedOver }: { before: Promise<Progress>; handedOver: () => void },
    ): Promise<Progress> {
      const { instanceId, id: importId, isDryRun, presence } = of;
      const part = begun.slice(from, from + records);
      const isLast = from + part.length === begun.length;
      const who = { ...of.importedBy, ...(presence === undefined ? {} : { presence }) };
      const at: WriteContext = { ...who, instanceId, signal: job.signal };
      const known = { instanceId, importId, isDryRun };

      // What the unit records is put together while the part before is written; only what counts records waits for that one.
      let progress: Progress | undefined;
      const write = async (tx: Transaction, { outcomes, rows }: Decided): Promise<void> => {
        await job.fence(tx);
        tx.expectRows(imports, { instanceId, id: importId, state: "running" }, 1);
        tx.write(...rows);
        if (isLast) tx.write(secrets.remove(payloadRef(instanceId, importId, payloadId(batch))));
        tx.writeLast(async () => {
          progress = advanced(await before, batch, from, outcomes);
          handedOver();
          return rowsOfProgress(of, batch, { progress, isLast, now: tx.now });
        });
      };
      await knowingClaims(db, async (stored, wanted) => {
        const decideIn = async (tx: Transaction): Promise<[Decided, Series]> => {
          const series = beginSeries(tx, stored);
          const decided = await decide(tx, series, known, part);
          wanted.push(...series.claimed);
          return [decided, series];
        };
        if (!isDryRun) {
          return events.transact(at, async (tx) => write(tx, (await decideIn(tx))[0]));
        }
        const foreseen = await events.rehearse(at, async (tx) => {
          const [decided, series] = await decideIn(tx);
          series.judge(await holdersOf(db, series.claimed));
          return decided;
        });
        return events.transact(at, (tx) => write(tx, foreseen));
      });
      if (progress === undefined)
        throw new Error("a part that is written says how far the import is");
      return progress;
    },
  };
}

/**
 * Has claims judged by the commit, of all records at once, as they are hardly ever held. Where one is, it is read who holds them, and the
 * records are decided anew.
 *
 * @param attempt gets who holds claims in the store, where that was read, and tells which ones it wants
 */
async function knowingClaims<T>(
  db: Deps["db"],
  attempt: (stored: Holders | undefined, wanted: ClaimChange[]) => Promise<T>,
): Promise<T> {
  let stored: Holders | undefined;
  for (let tries = 1; ; tries++) {
    const wanted: ClaimChange[] = [];
    try {
      return await attempt(stored, wanted);
    } catch (error) {
      const mayBeRecords = error instanceof DomainError && isRefusal(error);
      if (!mayBeRecords || tries === mostTries) throw error;
      stored = await holdersOf(db, wanted);
    }
  }
}

type Decided = { outcomes: RecordOutcome[]; rows: RowChange[] };

function advanced(
  before: Progress,
  batch: Batch,
  from: number,
  made: readonly RecordOutcome[],
): Progress {
  const count = (is: RecordOutcome["is"]) => made.filter((each) => each.is === is).length;
  // Of a batch that was left in part the store tells what became of the rest.
  const earlier = from === batch.outcomes.length ? batch.outcomes : before.outcomes;
  return {
    created: before.created + count("created"),
    existed: before.existed + count("existed"),
    refused: before.refused + count("refused"),
    outcomes: [...earlier, ...made],
  };
}

/** What became of records, in the rows of their batch and of the import. */
function rowsOfProgress(
  { instanceId, id: importId }: Import,
  { rank, number }: Batch,
  {
    progress: { outcomes, ...counts },
    isLast,
    now,
  }: { progress: Progress; isLast: boolean; now: Date },
): RowChange[] {
  const done = isLast ? { outcomes, doneAt: now } : { outcomes };
  return [
    updateRows(importBatches, { instanceId, importId, rank, number }, done),
    updateRows(imports, { instanceId, id: importId }, { ...counts, changeDate: now }),
  ];
}

/** A record that was read. `unit` has the memory of the unit that it is in, another one with each try. */
type Begun = {
  received: Received;
  id: string;
  refs: ReturnType<Kind["refs"]>;
  unit: { memory?: Memory };
} & ({ write: Write } | { refusal: DomainError });

type Known = Parameters<typeof createMemory>[1];

function contextOf(instanceId: string, orgId: string, unit: Begun["unit"]): ImportContext {
  const memory = (): Memory => {
    if (unit.memory === undefined) throw new Error("a record is decided outside of a unit");
    return unit.memory;
  };
  return {
    instanceId,
    orgId,
    known: {
      find: (...asked) => memory().find(...asked),
      isClientId: (id) => memory().isClientId(id),
      isClaimed: (...asked) => memory().isClaimed(...asked),
      roleKeys: (...asked) => memory().roleKeys(...asked),
    },
  };
}

/** Reads a record and prepares what is costly, once; what is wrong with it by itself is known then. */
async function begin(
  { readMessage }: ImportPorts,
  kind: Kind | string,
  received: Received,
  instanceId: string,
): Promise<Begun> {
  const unit: Begun["unit"] = {};
  let id: string | undefined;
  try {
    if (typeof kind === "string") throw unsupported(kind);
    const record = await readMessage(kind.type, received.json);
    // A text that no store takes would be refused at the commit, and all others with it.
    checkStorable(record);
    id = kind.idOf(record);
    const refs = kind.refs(record, received.orgId);
    const context = contextOf(instanceId, received.orgId, unit);
    return { received, id, refs, unit, write: kind.begin(record, context) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    id ??= typeof kind === "string" ? "" : idOfUnread(kind, received.json);
    return { received, id, refs: [], unit, refusal: error };
  }
}

async function settle(
  tx: Transaction,
  series: Series,
  begun: Begun,
  memory: Memory,
): Promise<RecordOutcome> {
  const { received, id, refs } = begun;
  const about = { at: received.at, org: received.orgId, id };
  try {
    if ("refusal" in begun) throw begun.refusal;
    await memory.bring(tx, refs);
    const { is, notes = [] }: Made = await series.add(begun.write, async (claimed, recorded) => {
      const taken = await memory.judge(claimed);
      if (taken !== undefined) throw new ClaimTaken(taken);
      memory.keep(claimed, recorded);
    });
    memory.note(notes);
    return { ...about, is };
  } catch (error) {
    // What is no refusal of this record is a failure of the whole, to be tried again.
    if (!(error instanceof DomainError) || !isRefusal(error)) throw error;
    const [first] = error.violations;
    return {
      ...about,
      is: "refused",
      reason: error.reason,
      message: error.message,
      ...(first === undefined ? {} : { field: first.field }),
    };
  }
}

const refusals: ReadonlySet<string> = new Set([
  "invalidArgument",
  "notFound",
  "alreadyExists",
  "failedPrecondition",
  "resourceExhausted",
]);

const isRefusal = ({ kind }: DomainError): boolean => refusals.has(kind);

const unsupported = (name: string) =>
  invalidArgument("IMPORT_KIND_UNSUPPORTED", whyUnsupported(name));
