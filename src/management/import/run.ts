import { DomainError, invalidArgument } from "../../errors.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { handle, type JobHandlers, type RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { type ClaimChange, ClaimTaken } from "../../storage/database.ts";
import { and, asc, eq, isNull } from "../../storage/drizzle.ts";
import { deleteRows, updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import { requireStorable } from "../../storage/texts.ts";
import { createBreath } from "./breath.ts";
import { importJob } from "./job.ts";
import type { Kind, Made, Place, Write } from "./kind.ts";
import { createMemory, type Memory } from "./known.ts";
import type { RankedKind } from "./kinds.ts";
import { payloadId, payloadOwner, payloadRef, type Received, unpackRecords } from "./payload.ts";
import { importBatches, importNotes, imports, type RecordOutcome } from "./tables.ts";

type Import = Row<typeof imports>;
type Batch = Row<typeof importBatches>;

// After so much work others of the kind get their turn, and a crash later on is the first one again.
const turnMs = 5_000;
// Each batch is fenced: a worker that only stood still loses its batch and no more.
const leaseMs = 5_000;

/**
 * Imports the batches that wait, one after the other, each as one unit with its outcomes: whoever crashes leaves a batch
 * whole or not begun. A dry run takes the same decisions on the same records and writes nothing but what came of them.
 */
export function importJobs(deps: Deps, kinds: ReadonlyMap<string, RankedKind>): JobHandlers {
  const { db, events, secrets, now } = deps;
  const i = db.table(imports);
  const b = db.table(importBatches);
  const breath = createBreath();

  async function read(instanceId: string, id: string): Promise<Import | undefined> {
    const [row] = await db.read
      .select()
      .from(i)
      .where(and(eq(i.instanceId, instanceId), eq(i.id, id)));
    return row;
  }

  async function next({ instanceId, id }: Import): Promise<Batch | undefined> {
    const [row] = await db.read
      .select()
      .from(b)
      .where(and(eq(b.instanceId, instanceId), eq(b.importId, id), isNull(b.doneAt)))
      .orderBy(asc(b.rank), asc(b.number))
      .limit(1);
    return row;
  }

  async function recordsOf({ instanceId, importId, ...batch }: Batch): Promise<Received[]> {
    const packed = await secrets.open(payloadRef(instanceId, importId, payloadId(batch)));
    if (packed === undefined) throw new Error("a batch that waits has lost its records");
    return unpackRecords(packed);
  }

  async function work(job: RunningJob<unknown>, of: Import, batch: Batch): Promise<void> {
    const { instanceId, id: importId, isDryRun } = of;
    const at: WriteContext = { ...of.importedBy, instanceId, signal: job.signal };
    const known = { instanceId, importId, isDryRun };
    const kind = kinds.get(batch.kind);
    const records = await recordsOf(batch);
    const places = createMemoryOnce(deps, known);
    const begun: Begun[] = [];
    for (const record of records) {
      begun.push(await begin(deps, kind, record, places.place));
      await breath.take();
    }
    const write = async (tx: Transaction, outcomes: RecordOutcome[], memory: Memory) => {
      await job.fence(tx);
      tx.expectRows(imports, { instanceId, id: importId, state: "running" }, 1);
      const count = (is: RecordOutcome["is"]) => outcomes.filter((each) => each.is === is).length;
      const { rank, number } = batch;
      tx.write(
        ...memory.rows(),
        updateRows(
          importBatches,
          { instanceId, importId, rank, number },
          { outcomes, doneAt: tx.now },
        ),
        secrets.remove(payloadRef(instanceId, importId, payloadId(batch))),
        updateRows(
          imports,
          { instanceId, id: importId },
          {
            created: of.created + count("created"),
            existed: of.existed + count("existed"),
            refused: of.refused + count("refused"),
            changeDate: tx.now,
          },
        ),
      );
    };
    const refs = begun.flatMap((each) => each.refs);
    const decide = async (tx: Transaction, memory: Memory, isHasty: boolean) => {
      places.memory = memory;
      await memory.prepare(tx, refs);
      const outcomes: RecordOutcome[] = [];
      for (const each of begun) {
        outcomes.push(await settle(tx, each, memory, isHasty));
        await breath.take();
      }
      return outcomes;
    };
    const attempt = async (isHasty: boolean) => {
      if (isDryRun) {
        const memory = createMemory(deps, known);
        const outcomes = await events.rehearse(at, async (tx) => {
          const foreseen = await decide(tx, memory, isHasty);
          if (isHasty) await tx.requireClaims();
          return foreseen;
        });
        await events.transact(at, (tx) => write(tx, outcomes, memory));
        return;
      }
      await events.transact(at, async (tx) => {
        const memory = createMemory(deps, known);
        await write(tx, await decide(tx, memory, isHasty), memory);
      });
    };
    try {
      await attempt(true);
    } catch (error) {
      // What one of them claims is taken: each is asked about, so that this one alone is refused.
      if (!(error instanceof DomainError) || !isRefusal(error)) throw error;
      await attempt(false);
    }
  }

  /** Says that all is done, if still nobody has stopped it. */
  async function complete(job: RunningJob<unknown>, { instanceId, id, importedBy }: Import) {
    await events.transact({ ...importedBy, instanceId }, async (tx) => {
      await job.finish(tx);
      tx.expectRows(imports, { instanceId, id, state: "running" }, 1);
      tx.write(
        updateRows(imports, { instanceId, id }, { state: "completed", changeDate: tx.now }),
        deleteRows(importNotes, { instanceId, importId: id }),
      );
    });
  }

  const lane = {
    parallel: 1,
    perGroup: 1,
    leaseMs,
    limits: () => new Map<string, number>(),
    whenDead: ({ instanceId, key: id }: { instanceId: string; key: string }, at: Date) => [
      updateRows(imports, { instanceId, id }, { state: "failed", changeDate: at }),
      secrets.removeAllOf(payloadOwner(instanceId, id)),
    ],
  };

  return handle(
    importJob,
    async (job) => {
      const end = now().getTime() + turnMs;
      while (!job.signal.aborted && now().getTime() < end) {
        const of = await read(job.instanceId, job.key);
        if (of?.state !== "running") return "done";
        const batch = await next(of);
        if (batch === undefined) {
          await complete(job, of);
          return "done";
        }
        await work(job, of, batch);
      }
      job.signal.throwIfAborted();
      return "again";
    },
    lane,
  );
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
