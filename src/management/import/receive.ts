import { invalidField } from "../../errors.ts";
import { initiator, type WriteContext } from "../../eventstore/transaction.ts";
import { enqueue } from "../../jobs/job.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import { keepPresence } from "./from.ts";
import type { ImportDeps } from "./batch.ts";
import { importJob } from "./job.ts";
import { type RankedKind, lastRank } from "./kinds.ts";
import { packRecords, payloadId, payloadRef, type Received, recordsABatch } from "./payload.ts";
import { parsed } from "./record-id.ts";
import { type Piece, splitter } from "./split.ts";
import { spanMs, optionInvalid } from "./span.ts";
import { forgetting } from "./sweep.ts";
import { importBatches, imports } from "./tables.ts";

const bytesABatch = 1 << 18;
const receivingMs = 24 * 3_600_000;
const reportMs = 30 * 24 * 3_600_000;

/** What stands in a document beside its organizations; what the request says goes before it. */
export type DocumentOptions = { timeout?: string; awaitResponse?: boolean; dryRun?: boolean };

type Open = { kind: string; rank: number; records: Received[]; size: number };

/**
 * Takes in what is to be imported, piece by piece, into sealed batches; when all of it is there the import begins, as a
 * job. Nothing is imported of what breaks off.
 *
 * @throws INVALID_ARGUMENT IMPORT_MALFORMED and the others of `splitter`, IMPORT_EMPTY, IMPORT_OPTION_INVALID,
 * IMPORT_ORG_ID_INVALID
 */
export function receiver(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>) {
  const { db, events, secrets, newId, now, loadJudge } = deps;

  return async (
    by: WriteContext,
    body: AsyncIterable<Uint8Array>,
    asked: { dryRun: boolean },
  ): Promise<{ id: string; options: DocumentOptions }> => {
    const { instanceId } = by;
    const id = newId();
    const at = now();
    const row = receiving(by, id, asked.dryRun, at);
    // The first record that is read would wait for it.
    loadJudge();
    const commit = (...changes: Parameters<typeof db.commit>[0]["changes"]) =>
      db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    await events.transact(by, async (tx) => {
      const { columns, changes } = await keepPresence(deps, tx, { instanceId, id });
      tx.write(...changes, insertRow(imports, { ...row, ...columns }));
    });

    const open = new Map<string, Open>();
    const numbers = new Map<number, number>();
    const options: DocumentOptions = {};
    let total = 0;

    async function close(batch: Open): Promise<void> {
      open.delete(batch.kind);
      const { kind, rank, records } = batch;
      const number = numbers.get(rank) ?? 0;
      numbers.set(rank, number + 1);
      const ref = payloadRef(instanceId, id, payloadId({ rank, number }));
      await commit(
        await secrets.put(ref, packRecords(records), at),
        insertRow(importBatches, {
          instanceId,
          importId: id,
          rank,
          number,
          kind,
          count: records.length,
          outcomes: [],
        }),
      );
    }

    async function take(piece: Piece): Promise<void> {
      if (piece.is === "option") return void Object.assign(options, toOption(piece));
      const { orgId, kind, json } = piece;
      requireOrgId(orgId);
      const rank = kinds.get(kind)?.rank ?? lastRank;
      const batch = open.get(kind) ?? { kind, rank, records: [], size: 0 };
      open.set(kind, batch);
      batch.records.push({ at: total++, orgId, json });
      batch.size += json.length;
      if (batch.records.length >= recordsABatch || batch.size >= bytesABatch) await close(batch);
    }

    try {
      const split = splitter();
      for await (const chunk of body) {
        for (const piece of split.feed(chunk)) await take(piece);
      }
      split.end();
      for (const batch of open.values().toArray()) await close(batch);
      if (total === 0) throw invalidField("data", "IMPORT_EMPTY", "there is nothing in it");
      const isDryRun = asked.dryRun || options.dryRun === true;
      const expiresAt = new Date(at.getTime() + reportMs);
      const begun = { state: "running", isDryRun, total, changeDate: now(), expiresAt };
      await commit(
        updateRows(imports, { instanceId, id }, begun),
        enqueue(importJob, { instanceId, id: newId(), now: now(), key: id, position: 0n }, {}),
      );
    } catch (error) {
      // What cannot be discarded now is swept.
      await commit(...forgetting(deps, instanceId, id)).catch(() => undefined);
      throw error;
    }
    return { id, options };
  };
}

/** The row of an import of which nothing has been received yet. */
function receiving(by: WriteContext, id: string, isDryRun: boolean, at: Date) {
  return {
    instanceId: by.instanceId,
    id,
    state: "receiving",
    isDryRun,
    total: 0,
    created: 0,
    existed: 0,
    refused: 0,
    importedBy: initiator(by),
    creationDate: at,
    changeDate: at,
    expiresAt: new Date(at.getTime() + receivingMs),
  };
}

/** @throws INVALID_ARGUMENT IMPORT_ORG_ID_INVALID */
function requireOrgId(orgId: string): void {
  if (/^[^\p{C}\p{Z}]{1,200}$/u.test(orgId)) return;
  const right = "orgId must be a text of 1 to 200 characters";
  throw invalidField("data", "IMPORT_ORG_ID_INVALID", right);
}

function toOption({ name, json }: Piece & { is: "option" }): DocumentOptions {
  const value: unknown = parsed(json);
  const isFlag = name === "awaitResponse" || name === "dryRun";
  // Looked at before anything begins: what is refused has changed nothing.
  if (name === "timeout" && typeof value === "string" && value !== "")
    spanMs(value, "data.timeout");
  if (typeof value === (isFlag ? "boolean" : "string")) return { [name]: value };
  if (value === null) return {};
  const right = isFlag ? "true or false" : "a text such as 30m";
  throw optionInvalid(`data.${name}`, right);
}
