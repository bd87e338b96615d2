// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/app/config.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { openKernel } from "../../src/app/kernel.ts";
import {
  addUser,
  builtInData,
  changeContact,
  changePassword,
  passwordSecret,
  user,
} from "../../src/resources/user/index.ts";
import { deleteRows } from "../../src/storage/row-change.ts";
import { secrets as secretsTable } from "../../src/storage/kernel-tables.ts";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { connect } from "../storage/sqlite-place.ts";

// Recognisable, so that a trace of them anywhere is found (C7).
const username = "MARKERusername";
const data = { given_name: "MARKERgiven", family_name: "MARKERfamily" };
const address = "MARKERemail@example.com";
const password = "MARKERpassword-1";

/** A store with one more human user. */
async function storeWithHuman() {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-personal-"));
  const env = { IDSVC_DATA_DIR: dataDir, IDSVC_BOOTSTRAP_TOKEN: "MARKERtoken" };
  const kernel = await openKernel(loadConfig({ files: [], flags: {}, env }), {
    logger: silentLogger(),
  });
  const made = await bootstrap(kernel);
  assert.ok(made);
  const { instance_id: instanceId, organization_id: organizationId } = made;
  const by = { instanceId, editorId: "", service: "", clientId: "", requestId: "" };
  const userId = kernel.newId();
  await kernel.events.transact(by, async (tx) => {
    const loaded = await tx.load(user, userId);
    const added = addUser(loaded, { ...builtInData("human", data), organizationId, username });
    tx.record(user, loaded, added, { type: "org", id: organizationId });
    tx.record(user, loaded, changeContact(loaded.state, "email", { address, isVerified: true }));
    tx.record(user, loaded, changePassword(loaded.state, false));
    tx.write(await passwordSecret(kernel.secrets, { instanceId, userId }, password, tx.now));
  });
  const destroyKey = () =>
    kernel.db.commit({
      instanceId,
      expect: [],
      claims: [],
      events: [],
      changes: [deleteRows(secretsTable, { instanceId, ownerType: "user", ownerId: userId })],
    });
  return {
    kernel,
    dataDir,
    instanceId,
    userId,
    destroyKey,
    async [Symbol.asyncDispose]() {
      await kernel[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

describe("what the store holds of a human user", () => {
  it("is in no event in clear: neither name, nor address, nor password", async () => {
    await using store = await storeWithHuman();
    using connection = connect(join(store.dataDir, "idsvc.db"));
    const rows = connection.prepare("SELECT * FROM events").raw().all();
    assert.ok(rows.length > 10);
    assert.doesNotMatch(JSON.stringify(rows), /MARKER/i);
  });
  it("is in their own row and claim, and in no other table", async () => {
    await using store = await storeWithHuman();
    using connection = connect(join(store.dataDir, "idsvc.db"));
    const tables: unknown[] = connection
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .pluck()
      .all();
    const holding = tables.filter((name) =>
      JSON.stringify(
        connection
          .prepare(`SELECT * FROM "${String(name)}"`)
          .raw()
          .all(),
      ).match(/MARKER/i),
    );
    assert.deepEqual(holding.map(String).toSorted(), ["claims", "users"]);
  });
  for (const secret of [password, "MARKERtoken"])
    it(`is in no file of the data folder where nothing shows it: ${secret}`, async () => {
      await using store = await storeWithHuman();
      for (const file of readdirSync(store.dataDir)) {
        // The token of the first start stands in this file, readable by its owner alone (H1).
        if (file === "bootstrap.json") continue;
        const bytes = readFileSync(join(store.dataDir, file));
        assert.equal(bytes.includes(secret), false, `${file} holds ${secret}`);
      }
    });
  it("is what the service reads back, with their key", async () => {
    await using store = await storeWithHuman();
    const { state } = await store.kernel.events.load(user, store.instanceId, store.userId);
    assert.equal(state?.username, username);
    assert.deepEqual(state?.data, data);
  });
  it("cannot be read from their events once their key is destroyed, and they still fold", async () => {
    await using store = await storeWithHuman();
    await store.destroyKey();
    const { kernel, instanceId, userId } = store;
    const { state, version } = await kernel.events.load(user, instanceId, userId);
    assert.deepEqual([state?.schemaType, state?.username, version], ["human", "", 4n]);
    assert.deepEqual([state?.data, state?.email?.address], [{}, ""]);
  });
  it("does not keep projections from being rebuilt once their key is destroyed", async () => {
    await using store = await storeWithHuman();
    await store.destroyKey();
    await rebuildProjections(store.kernel, store.kernel.projectionTables);
  });
});
