import { DomainError, invalidArgument } from "../../errors.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import type { RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { type ClaimChange, ClaimTaken } from "../../storage/database.ts";
import { updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import { requireStorable } from "../../storage/texts.ts";
import { createBreath } from "./breath.ts";
import type { Kind, Made, Place, Write } from "./kind.ts";
import { createMemory, type Memory } from "./known.ts";
import type { RankedKind } from "./kinds.ts";
import { payloadId, payloadRef, type Received, unpackRecords } from "./payload.ts";
import { importBatches, imports, type RecordOutcome } from "./tables.ts";

export type Import = Row<typeof imports>;
export type Batch = Pick<
  Row<typeof importBatches>,
  "instanceId" | "importId" | "rank" | "number" | "kind"
>;

/** A batch that was read, and what is costly about its records done once, however often its unit is tried. */
export type ReadyBatch = {
  batch: Batch;
  /** Decides on all of them; a record that may not be is refused alone. */
  decide(tx: Transaction, memory: Memory, isHasty: boolean): Promise<RecordOutcome[]>;
  memory(): Memory;
};

/**
 * Works on one batch: all its records are one unit, with what became of each. A dry run takes the same decisions on the
 * same records and writes nothing but what came of them.
 */
export function batchWorker(deps: Deps, kinds: ReadonlyMap<string, RankedKind>) {
  const { events, secrets } = deps;
  const breath = createBreath();

  async function recordsOf({ instanceId, importId, ...batch }: Batch): Promise<Received[]> {
    const packed = await secrets.open(payloadRef(instanceId, importId, payloadId(batch)));
    if (packed === undefined) throw new Error("a batch that waits has lost its records");
    return unpackRecords(packed);
  }

  return {
    async prepare(isDryRun: boolean, batch: Batch): Promise<ReadyBatch> {
      const { instanceId, importId } = batch;
      const known = { instanceId, importId, isDryRun };
      const kind = kinds.get(batch.kind);
      const places = createMemoryOnce(deps, known);
      const begun: Begun[] = [];
      for (const record of await recordsOf(batch)) {
        begun.push(await begin(deps, kind, record, places.place));
        await breath.take();
      }
      const refs = begun.flatMap((each) => each.refs);
      return {
        batch,
        memory: () => createMemory(deps, known),
        async decide(tx, memory, isHasty) {
          places.memory = memory;
          await memory.prepare(tx, refs);
          const outcomes: RecordOutcome[] = [];
          for (const each of begun) {
            outcomes.push(await settle(tx, each, memory, isHasty));
            await breath.take();
          }
          return outcomes;
        },
      };
    },

    async work(job: RunningJob<unknown>, of: Import, ready: ReadyBatch): Promise<void> {
      const { instanceId, id: importId } = of;
      const { rank, number } = ready.batch;
      const at: WriteContext = { ...of.importedBy, instanceId, signal: job.signal };
      const write = async (tx: Transaction, outcomes: RecordOutcome[], memory: Memory) => {
        await job.fence(tx);
        tx.expectRows(imports, { instanceId, id: importId, state: "running" }, 1);
        const count = (is: RecordOutcome["is"]) => outcomes.filter((each) => each.is === is).length;
        const counts = {
          created: of.created + count("created"),
          existed: of.existed + count("existed"),
          refused: of.refused + count("refused"),
        };
        const done = { outcomes, doneAt: tx.now };
        tx.write(
          ...memory.rows(),
          updateRows(importBatches, { instanceId, importId, rank, number }, done),
          secrets.remove(payloadRef(instanceId, importId, payloadId({ rank, number }))),
          updateRows(imports, { instanceId, id: importId }, { ...counts, changeDate: tx.now }),
        );
      };
      const attempt = async (isHasty: boolean) => {
        if (of.isDryRun) {
          const memory = ready.memory();
          const outcomes = await events.rehearse(at, async (tx) => {
            const foreseen = await ready.decide(tx, memory, isHasty);
            if (isHasty) await tx.requireClaims();
            return foreseen;
          });
          await events.transact(at, (tx) => write(tx, outcomes, memory));
          return;
        }
        await events.transact(at, async (tx) => {
          const memory = ready.memory();
          await write(tx, await ready.decide(tx, memory, isHasty), memory);
        });
      };
      try {
        await attempt(true);
      } catch (error) {
        // What one of them claims is taken: each is asked about, so that this one alone is refused.
        if (!(error instanceof DomainError) || !isRefusal(error)) throw error;
        await attempt(false);
      }
    },
  };
}

type Begun = { received: Received; id: string; refs: ReturnType<Kind["refs"]> } & (
  | { write: Write }
  | { refusal: DomainError }
);

/** A record whose memory changes with each try of its unit, while what was prepared of it stays. */
function createMemoryOnce(deps: Deps, known: Parameters<typeof createMemory>[1]) {
  const held = { memory: createMemory(deps, known) };
  const place = (orgId: string): Place => ({
    instanceId: known.instanceId,
    orgId,
    known: {
      find: (...asked) => held.memory.find(...asked),
      isClaimed: (...asked) => held.memory.isClaimed(...asked),
      roleKeys: (...asked) => held.memory.roleKeys(...asked),
    },
  });
  return Object.assign(held, { place });
}

/** Reads a record and prepares what is costly, once; what is wrong with it by itself is known then. */
async function begin(
  { readMessage }: Pick<Deps, "readMessage">,
  kind: Kind | undefined,
  received: Received,
  placeOf: (orgId: string) => Place,
): Promise<Begun> {
  let id = "";
  try {
    if (kind === undefined) throw unsupported();
    const record = await readMessage(kind.type, received.json);
    // A text that no store takes would be refused at the commit, and all others with it.
    requireStorable(record);
    id = kind.idOf(record);
    const refs = kind.refs(record, received.orgId);
    return { received, id, refs, write: kind.begin(record, placeOf(received.orgId)) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { received, id, refs: [], refusal: error };
  }
}

async function settle(
  tx: Transaction,
  begun: Begun,
  memory: Memory,
  isHasty: boolean,
): Promise<RecordOutcome> {
  const { received, id, refs } = begun;
  const about = { at: received.at, org: received.orgId, id };
  try {
    if ("refusal" in begun) throw begun.refusal;
    await memory.bring(tx, refs);
    let claimed: readonly ClaimChange[] = [];
    const made: Made = await tx.attempt(
      () => begun.write(tx),
      async (wanted) => {
        claimed = wanted;
        const taken = await memory.judge(wanted);
        if (taken !== undefined) throw new ClaimTaken(taken);
      },
      isHasty,
    );
    memory.keep(made.notes ?? [], claimed);
    return { ...about, is: made.is };
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

const unsupported = () =>
  invalidArgument(
    "IMPORT_KIND_UNSUPPORTED",
    "records of this kind have no resource here: make what they are for by hand",
  );
