import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { secrets as secretsTable } from "../../src/storage/kernel-tables.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import type { AnyTable } from "../../src/storage/table.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { aggregates, type FrozenStream, masterKey } from "./frozen-log.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "idsvc-frozen-"));

function open(dataDir: string): Promise<Kernel> {
  const env = { IDSVC_DATA_DIR: dataDir, IDSVC_MASTER_KEY: masterKey };
  return openKernel(loadConfig({ files: [], flags: {}, env }), { logger: silentLogger() });
}

/** A store with its tables and nothing else, which takes far longer to make than to copy. */
async function newEmpty(): Promise<string> {
  const dataDir = newFolder();
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  await (await open(dataDir))[Symbol.asyncDispose]();
  return dataDir;
}
let empty: Promise<string> | undefined;

/** A store that holds the stream as it was stored, and nothing that follows from it. */
async function storeOf(stream: FrozenStream): Promise<Kernel> {
  const dataDir = newFolder();
  cpSync(await (empty ??= newEmpty()), dataDir, { recursive: true });
  const kernel = await open(dataDir);
  const { instanceId, owner } = stream;
  await kernel.db.commit({
    instanceId,
    expect: [],
    claims: [],
    changes: stream.secrets.map(({ sealed, ...secret }) =>
      insertRow(secretsTable, {
        instanceId,
        ...secret,
        createdAt: new Date(0),
        sealed: Uint8Array.from(Buffer.from(sealed, "base64")),
      }),
    ),
    events: stream.events.map(({ createdAt, ...event }, at) => ({
      aggregateType: stream.aggregate,
      aggregateId: stream.id,
      ...event,
      aggregateVersion: BigInt(at + 1),
      createdAt: new Date(createdAt),
      ownerType: owner.type,
      ownerId: owner.id,
      editorId: "",
      service: "",
      clientId: "",
      requestId: "",
      originId: null,
    })),
  });
  const dispose = () => kernel[Symbol.asyncDispose]();
  return Object.assign(Object.create(kernel), kernel, {
    async [Symbol.asyncDispose]() {
      await dispose();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
}

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (_, each) => (typeof each === "bigint" ? String(each) : each)),
  );

const rowsOf = async ({ db }: Kernel, table: AnyTable): Promise<unknown[]> =>
  db.read.select().from(db.table(table));

/** Of what was stored, which may never change; what is made of it today is left out. */
export function fingerprint(stream: FrozenStream): string {
  const stored = { ...stream, state: undefined, rows: undefined };
  return createHash("sha256").update(JSON.stringify(stored)).digest("hex").slice(0, 16);
}

/** What this build makes of a stored stream. */
export async function replay(
  stream: FrozenStream,
): Promise<Pick<FrozenStream, "state" | "rows"> & { version: bigint }> {
  await using kernel = await storeOf(stream);
  const aggregate = aggregates.get(stream.aggregate);
  if (aggregate === undefined) throw new Error(`which aggregate is ${stream.aggregate}?`);
  const { state, version } = await kernel.events.load(aggregate, stream.instanceId, stream.id);
  const { instanceId } = stream;
  const limit = stream.events.length;
  const log = await kernel.events.read({ instanceId, after: 0n, limit });
  const changes = log.flatMap(kernel.events.reduce);
  await kernel.db.commit({ instanceId, expect: [], claims: [], events: [], changes });
  const rows: FrozenStream["rows"] = {};
  for (const table of kernel.projectionTables) {
    const found = plain(await rowsOf(kernel, table));
    if (Array.isArray(found) && found.length > 0) rows[table.name] = found;
  }
  return { state: plain(state), version, rows };
}
