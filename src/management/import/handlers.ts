import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ImportJobSchema,
  ImportOutcome,
  type ImportResponseSchema,
  ImportSearchFilterSchema,
  ImportState,
} from "#gen/idsvc/management/v1/import_pb.ts";
import type { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { deadlineExceeded, failedPrecondition, notFound } from "../../errors.ts";
import { enqueue } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../../resources/object/details.ts";
import { objectSearch } from "../../resources/object/queries.ts";
import { Conflict } from "../../storage/database.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { wordsOf } from "../../resources/object/words.ts";
import { eq } from "../../storage/drizzle.ts";
import { type RowChange, updateRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import { answerOf } from "./answer.ts";
import type { ImportDeps } from "./batch.ts";
import { importJob } from "./job.ts";
import type { RankedKind } from "./kinds.ts";
import { payloadOwner } from "./payload.ts";
import { receiver } from "./receive.ts";
import { outcomesOf } from "./outcomes.ts";
import { spanMs } from "./span.ts";
import { type ImportState as StoredState, imports } from "./tables.ts";

type Import = Row<typeof imports>;
type ImportMethods =
  | "import"
  | "getImport"
  | "listImports"
  | "pauseImport"
  | "resumeImport"
  | "cancelImport"
  | "reportImport";

const usualTimeoutMs = 30 * 60_000;
const pollMs = 100;
const states = wordsOf(ImportState, "");
const outcomes = wordsOf(ImportOutcome, "");

/** @throws NOT_FOUND IMPORT_NOT_FOUND */
export function importReader({ db }: Pick<Deps, "db">) {
  return async (instanceId: string, id: string): Promise<Import> => {
    await db.catchUp();
    const [row] = await rowsWhere(db, imports, { instanceId, id });
    if (row === undefined) throw notFound("IMPORT_NOT_FOUND", "the import does not exist");
    return row;
  };
}

/** Lists imports until their reports expire. */
function importLister(deps: Deps): Handlers<typeof ManagementService>["listImports"] {
  const t = deps.db.table(imports);
  const search = objectSearch(deps, imports, {
    filter: ImportSearchFilterSchema,
    filters: { state: ({ state }) => eq(t.state, states.word(state)) },
  });
  return async (request, scope) => {
    const found = await search(scope, request);
    return { details: toListDetails(found), result: found.rows.map(toJob) };
  };
}

/** Bulk imports (G4): received as a whole, then a job that can be watched, paused and cancelled. */
export function importHandlers(
  deps: ImportDeps,
  kinds: ReadonlyMap<string, RankedKind>,
): Pick<Handlers<typeof ManagementService>, ImportMethods> {
  const { db, secrets, newId, now } = deps;
  const receive = receiver(deps, kinds);
  const find = importReader(deps);

  /** Moves an import on from one of some states; whoever is at work on it notices before its next batch. */
  async function move(
    { instanceId }: Scope,
    id: string,
    from: readonly StoredState[],
    to: StoredState,
    also: RowChange[] = [],
  ) {
    for (;;) {
      const row = await find(instanceId, id);
      const { state } = row;
      if (!from.some((each) => each === state)) throw cannotBecome(state, to);
      const change = updateRows(imports, { instanceId, id }, { state: to, changeDate: now() });
      const where = { instanceId, id, state };
      try {
        await db.commit({
          instanceId,
          expect: [{ kind: "rows", table: imports, where, count: 1 }],
          claims: [],
          events: [],
          changes: [change, ...also],
        });
      } catch (error) {
        if (error instanceof Conflict) continue;
        throw error;
      }
      return { job: toJob(await find(instanceId, id)) };
    }
  }

  return {
    async import(request, scope) {
      const body = scope.body ?? inOne(request.data);
      // Before the body: a wrong time is told at once.
      if (request.timeout !== "") spanMs(request.timeout, "timeout");
      const by = writeContext(scope);
      const { id, options } = await receive(by, body, { dryRun: request.dryRun });
      const awaits = request.awaitResponse ?? options.awaitResponse ?? true;
      const timeout = request.timeout || (options.timeout ?? "");
      const withinMs = timeout === "" ? usualTimeoutMs : spanMs(timeout, "data.timeout");
      const row = awaits
        ? await ended(find, scope, id, withinMs)
        : await find(scope.instanceId, id);
      const response = awaits ? await answerOf(outcomesOf(db, row)) : {};
      return { job: toJob(row), ...response } satisfies MessageInitShape<
        typeof ImportResponseSchema
      >;
    },

    getImport: async ({ id }, { instanceId }) => ({ job: toJob(await find(instanceId, id)) }),

    listImports: importLister(deps),

    pauseImport: ({ id }, scope) => move(scope, id, ["running"], "paused"),

    resumeImport: ({ id }, scope) => {
      const at = { instanceId: scope.instanceId, id: newId(), now: now(), key: id, position: 0n };
      return move(scope, id, ["paused"], "running", [enqueue(importJob, at, {})]);
    },

    cancelImport: ({ id }, scope) =>
      move(scope, id, ["running", "paused"], "cancelled", [
        secrets.removeAllOf(payloadOwner(scope.instanceId, id)),
      ]),

    async *reportImport({ id, onlyRefused }, { instanceId }) {
      const row = await find(instanceId, id);
      for await (const { kind: type, at, org, id: of, is, ...why } of outcomesOf(db, row)) {
        if (onlyRefused && is !== "refused") continue;
        const { reason = "", field = "", message = "" } = why;
        const outcome = outcomes.member(is);
        yield { position: BigInt(at), orgId: org, type, id: of, outcome, reason, field, message };
      }
    },
  };
}

/** The import as it is when nothing more becomes of it, or when time is up. */
async function ended(
  find: ReturnType<typeof importReader>,
  { instanceId, signal }: Scope,
  id: string,
  withinMs: number,
) {
  const end = performance.now() + withinMs;
  for (;;) {
    const row = await find(instanceId, id);
    if (row.state !== "running" && row.state !== "receiving") return row;
    const leftMs = end - performance.now();
    if (leftMs <= 0) {
      throw deadlineExceeded(
        "IMPORT_TIMEOUT",
        `the import ${id} was waited for ${Math.round(withinMs / 1000)} s and goes on: get it to see how far it is`,
        { metadata: { import_id: id } },
      );
    }
    await delay(Math.min(pollMs, leftMs), undefined, signal === undefined ? {} : { signal });
  }
}

async function* inOne(data: Uint8Array): AsyncIterable<Uint8Array> {
  yield data;
}

function toJob(row: Import): MessageInitShape<typeof ImportJobSchema> {
  const { id, isDryRun: dryRun, total, created, existed, refused } = row;
  return {
    id,
    dryRun,
    total: BigInt(total),
    state: states.member(row.state),
    created: BigInt(created),
    existed: BigInt(existed),
    refused: BigInt(refused),
    creationDate: timestampFromDate(row.creationDate),
    changeDate: timestampFromDate(row.changeDate),
    expirationDate: timestampFromDate(row.expiresAt),
  };
}

const cannotBecome = (is: string, to: string) =>
  failedPrecondition("IMPORT_STATE_WRONG", `the import is ${is} and cannot become ${to}`, {
    metadata: { state: is },
  });
