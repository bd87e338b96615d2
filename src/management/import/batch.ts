import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { DomainError, invalidArgument } from "../../errors.ts";
import type { Presence } from "../../eventstore/presence.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import type { RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { type ClaimChange, ClaimTaken } from "../../storage/database.ts";
import { updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import { checkStorable } from "../../storage/texts.ts";
import { createYielder } from "../../yielder.ts";
import type { Kind, Made, ImportContext, Write } from "./kind.ts";
import { createMemory, type Memory } from "./known.ts";
import { type RankedKind, whyUnsupported } from "./kinds.ts";
import { payloadId, payloadRef, type Received, unpackRecords } from "./payload.ts";
import { idOfUnread } from "./record-id.ts";
import { importBatches, imports, type RecordOutcome } from "./tables.ts";

/** An import, and who asked for it. */
export type Import = Row<typeof imports> & { presence?: Presence };
export type Batch = Pick<
  Row<typeof importBatches>,
  "instanceId" | "importId" | "rank" | "number" | "kind" | "outcomes"
>;

/** A batch that was read, and what is costly about its records done once, however often a unit is tried. */
export type ReadyBatch = {
  batch: Batch;
  contexts: ImportContexts;
  begun: readonly Begun[];
  /** What became of those that are done. */
  outcomes: readonly RecordOutcome[];
};

/** What imports ask of the service, beside what every slice may use. */
export type ImportPorts = {
  /**
   * Reads a message from the bytes of its JSON, as the API reads requests, and holds it to the rules of the schema. Fields
   * that it does not have are passed over.
   * @throws INVALID_ARGUMENT MALFORMED_JSON, INVALID_JSON_FIELD, VALIDATION_FAILED and their like
   */
  readMessage: <D extends DescMessage>(type: D, json: Uint8Array) => Promise<MessageShape<D>>;
};
export type ImportDeps = Deps & ImportPorts;

/**
 * Works on batches in parts, each of which is one unit with what became of its records. A dry run takes the same decisions
 * on the same records and writes nothing but what came of them.
 */
export function batchWorker(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>) {
  const { events, secrets } = deps;
  const yielder = createYielder();

  async function recordsOf({ instanceId, importId, ...batch }: Batch): Promise<Received[]> {
    const packed = await secrets.open(payloadRef(instanceId, importId, payloadId(batch)));
    if (packed === undefined) throw new Error("a batch that waits has lost its records");
    return unpackRecords(packed);
  }

  async function decide(
    tx: Transaction,
    { contexts, part }: { contexts: ImportContexts; part: readonly Begun[] },
    isHasty: boolean,
  ): Promise<RecordOutcome[]> {
    const memory = (contexts.memory = contexts.create());
    await memory.prepare(
      tx,
      part.flatMap(({ refs }) => refs),
    );
    const outcomes: RecordOutcome[] = [];
    for (const each of part) {
      outcomes.push(await settle(tx, each, memory, isHasty));
      await yielder.yieldIfDue();
    }
    return outcomes;
  }

  return {
    async prepare(isDryRun: boolean, batch: Batch): Promise<ReadyBatch> {
      const { instanceId, importId, kind } = batch;
      const contexts = createImportContexts(deps, { instanceId, importId, isDryRun });
      const begun: Begun[] = [];
      for (const record of await recordsOf(batch)) {
        begun.push(await begin(deps, kinds.get(kind) ?? kind, record, contexts.ofOrganization));
        await yielder.yieldIfDue();
      }
      return { batch, contexts, begun, outcomes: batch.outcomes };
    },

    /** Works on so many of those that are left, and gives what is left then; nothing when that is none. */
    async work(
      job: RunningJob<unknown>,
      of: Import,
      ready: ReadyBatch,
      mostRecords: number,
    ): Promise<ReadyBatch | undefined> {
      const { instanceId, id: importId } = of;
      const { contexts, begun, batch } = ready;
      const from = ready.outcomes.length;
      const part = begun.slice(from, from + mostRecords);
      const isLast = from + part.length === begun.length;
      const { presence } = of;
      const who = { ...of.importedBy, ...(presence === undefined ? {} : { presence }) };
      const at: WriteContext = { ...who, instanceId, signal: job.signal };

      const write = async (tx: Transaction, made: readonly RecordOutcome[]) => {
        await job.fence(tx);
        const outcomes = [...ready.outcomes, ...made];
        tx.write(...contexts.memory.rows());
        noteOutcomes(tx, of, batch, { outcomes, made, isLast });
        if (isLast) tx.write(secrets.remove(payloadRef(instanceId, importId, payloadId(batch))));
        return outcomes;
      };
      const attempt = async (isHasty: boolean) => {
        if (!of.isDryRun) {
          return events.transact(at, async (tx) =>
            write(tx, await decide(tx, { contexts, part }, isHasty)),
          );
        }
        const foreseen = await events.rehearse(at, async (tx) => {
          const made = await decide(tx, { contexts, part }, isHasty);
          if (isHasty) await tx.requireClaims();
          return made;
        });
        return events.transact(at, (tx) => write(tx, foreseen));
      };
      // When what one of them claims is taken each is asked about, so that this one alone is refused.
      const outcomes = await attempt(true).catch((error: unknown) => {
        if (error instanceof DomainError && isRefusal(error)) return attempt(false);
        throw error;
      });
      return isLast ? undefined : { ...ready, outcomes };
    },
  };
}

/** Writes what became of records to their batch and to the import, which still has to run. */
function noteOutcomes(
  tx: Transaction,
  { instanceId, id: importId, created, existed, refused }: Import,
  { rank, number }: Batch,
  {
    outcomes,
    made,
    isLast,
  }: { outcomes: RecordOutcome[]; made: readonly RecordOutcome[]; isLast: boolean },
): void {
  tx.expectRows(imports, { instanceId, id: importId, state: "running" }, 1);
  const count = (is: RecordOutcome["is"]) => made.filter((each) => each.is === is).length;
  const counts = {
    created: created + count("created"),
    existed: existed + count("existed"),
    refused: refused + count("refused"),
  };
  const done = isLast ? { outcomes, doneAt: tx.now } : { outcomes };
  tx.write(
    updateRows(importBatches, { instanceId, importId, rank, number }, done),
    updateRows(imports, { instanceId, id: importId }, { ...counts, changeDate: tx.now }),
  );
}

type Begun = { received: Received; id: string; refs: ReturnType<Kind["refs"]> } & (
  | { write: Write }
  | { refusal: DomainError }
);

type ImportContexts = ReturnType<typeof createImportContexts>;

/** The contexts of records by organization: the memory there is another one with each try of a unit, while what was prepared stays. */
function createImportContexts(deps: Deps, known: Parameters<typeof createMemory>[1]) {
  const create = () => createMemory(deps, known);
  const current = { memory: create() };
  const ofOrganization = (orgId: string): ImportContext => ({
    instanceId: known.instanceId,
    orgId,
    known: {
      find: (...asked) => current.memory.find(...asked),
      isClaimed: (...asked) => current.memory.isClaimed(...asked),
      roleKeys: (...asked) => current.memory.roleKeys(...asked),
    },
  });
  return Object.assign(current, { create, ofOrganization });
}

/** Reads a record and prepares what is costly, once; what is wrong with it by itself is known then. */
async function begin(
  { readMessage }: ImportPorts,
  kind: Kind | string,
  received: Received,
  contextOf: (orgId: string) => ImportContext,
): Promise<Begun> {
  let id: string | undefined;
  try {
    if (typeof kind === "string") throw unsupported(kind);
    const record = await readMessage(kind.type, received.json);
    // A text that no store takes would be refused at the commit, and all others with it.
    checkStorable(record);
    id = kind.idOf(record);
    const refs = kind.refs(record, received.orgId);
    return { received, id, refs, write: kind.begin(record, contextOf(received.orgId)) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    id ??= typeof kind === "string" ? "" : idOfUnread(kind, received.json);
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

const unsupported = (name: string) =>
  invalidArgument("IMPORT_KIND_UNSUPPORTED", whyUnsupported(name));
