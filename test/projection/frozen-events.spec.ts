import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { modules } from "../../src/app/modules.ts";
import { typesOf } from "../../src/eventstore/eventstore.ts";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { secrets as secretsTable } from "../../src/storage/kernel-tables.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import type { AnyTable } from "../../src/storage/table.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { aggregates, type FrozenStream, frozenStreams, masterKey } from "./frozen-log.ts";

/** What each file held when it was written. A new shape of an event gets a new file; these stay as they are. */
const fingerprints: Record<string, string> = {
  "execution.json": "cf1fcf53bd842817",
  "execution.removed.json": "a60b86eb1990d3f0",
  "feature.instance.json": "ad17fffdeb237760",
  "feature.system.json": "f0bea54e146a6790",
  "instance.json": "f1dd70eacc8f282d",
  "instance.member.json": "9e5f65da54e2f682",
  "org.json": "7da430d7828ca10e",
  "project.json": "4195ad8bcc0ae0c0",
  "target.json": "f5da5654a5a4f4a4",
  "target.removed.json": "49cc46373c658d39",
  "user.human.json": "fa0fe33c4d4a364d",
  "user.machine.json": "00ba4d29206065f5",
};

/** A store that holds the stream as it was stored, and nothing that follows from it. */
async function storeOf(stream: FrozenStream): Promise<Kernel> {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-frozen-"));
  const env = { IDSVC_DATA_DIR: dataDir, IDSVC_MASTER_KEY: masterKey };
  const config = loadConfig({ files: [], flags: {}, env });
  const kernel = await openKernel(config, { logger: silentLogger() });
  const { instanceId, owner } = stream;
  await kernel.db.commit({
    ...{ instanceId, expect: [], claims: [] },
    changes: stream.secrets.map(({ sealed, ...secret }) =>
      insertRow(secretsTable, {
        ...{ instanceId, ...secret, createdAt: new Date(0) },
        sealed: Uint8Array.from(Buffer.from(sealed, "base64")),
      }),
    ),
    events: stream.events.map(({ createdAt, ...event }, at) => ({
      ...{ aggregateType: stream.aggregate, aggregateId: stream.id },
      ...{ ...event, aggregateVersion: BigInt(at + 1), createdAt: new Date(createdAt) },
      ...{ ownerType: owner.type, ownerId: owner.id },
      ...{ editorId: "", service: "", clientId: "", requestId: "" },
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

describe("events of earlier builds", () => {
  for (const [file, { text, stream }] of frozenStreams) {
    it(`are never rewritten: ${file}`, () =>
      assert.equal(
        createHash("sha256").update(text).digest("hex").slice(0, 16),
        fingerprints[file],
      ));
    it(`fold to the same state as then: ${file}`, async () => {
      await using kernel = await storeOf(stream);
      const aggregate = aggregates.get(stream.aggregate);
      assert.ok(aggregate, stream.aggregate);
      const { state, version } = await kernel.events.load(aggregate, stream.instanceId, stream.id);
      assert.deepEqual(plain(state), stream.state);
      assert.equal(version, BigInt(stream.events.length));
    });
    it(`make the same rows as then: ${file}`, async () => {
      await using kernel = await storeOf(stream);
      await rebuildProjections(kernel, kernel.projectionTables);
      for (const table of kernel.projectionTables) {
        const then = stream.rows[table.name] ?? [];
        const now = plain(await rowsOf(kernel, table));
        assert.ok(Array.isArray(now));
        // A projection may have got more columns since; those that were there hold the same.
        const columns = Object.keys(Object(then[0]));
        const known = now.map((row) =>
          Object.fromEntries(columns.map((column) => [column, Object(row)[column]])),
        );
        assert.deepEqual(known, then, table.name);
      }
    });
  }

  it("are here for every event there is", () => {
    const on = {
      multitenancy_resources_api: true,
      multitenancy_settings: true,
      oidc_token_exchange: true,
    };
    const frozen = [...frozenStreams.values()].flatMap(({ stream }) => stream.events);
    const missing = typesOf(modules(on).flatMap(({ events }) => events)).filter(
      (type) => !frozen.some((event) => event.type === type),
    );
    assert.deepEqual(missing, [], "add a file to test/fixtures/events");
  });
});
