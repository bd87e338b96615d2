// Run: alone, long
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beginsOf } from "../../src/app/begin.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { sealedUnder } from "../../src/crypto/secrets.ts";
import { createInstance, newInstanceIds } from "../../src/setup/index.ts";
import { webKeyReader } from "../../src/resources/webkey/index.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { idsvc, spawnCommand } from "../cli/command.ts";
import { startTestApp, storeEnv } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import { bodyOf } from "../support/peer.ts";
import { connectPeer } from "../support/protocols.ts";
import { systemCaller } from "../support/system-caller.ts";
import { end } from "./server.ts";

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const only = (byte: number) => ({ IDSVC_MASTER_KEY: keyOf(byte) });
const both = (current: number, previous: number) => ({
  ...only(current),
  IDSVC_MASTER_KEY_PREVIOUS: keyOf(previous),
});
const wrapped = `SELECT instance_id, kind, key_id, sealed FROM secrets
  WHERE owner_type = 'instance' AND kind IN ('data_key', 'digest_key', 'pepper_key') ORDER BY 1, 2`;

type Env = Record<string, string>;

async function newPlace() {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-keys-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const store = { IDSVC_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) };
  return {
    dataDir,
    open: (env: Env): Promise<Kernel> =>
      openKernel(loadConfig({ files: [], flags: {}, env: { ...store, ...env } }), {
        logger: silentLogger(),
      }),
    rotate: (env: Env) => idsvc(["keys", "rotate", "--json"], { ...store, ...env }),
    spawnRotate: (env: Env) => spawnCommand(["keys", "rotate"], { ...store, ...env }),
  };
}

/** How many keys there are under each master key, by the row and by what is sealed itself. */
async function keysUnder(kernel: Kernel): Promise<Record<string, number>> {
  const { rows } = await beside(kernel, wrapped);
  const counts: Record<string, number> = {};
  const perInstance = new Map<string, Set<string>>();
  for (const [instance, , keyId, sealed] of rows) {
    const under = sealedUnder(sealed as Uint8Array);
    assert.equal(keyId, under);
    counts[under] = (counts[under] ?? 0) + 1;
    const known = perInstance.get(String(instance)) ?? new Set();
    perInstance.set(String(instance), known.add(under));
  }
  // An instance is wrapped anew as a whole, whenever the run was broken off.
  for (const under of perInstance.values()) assert.equal(under.size, 1);
  return counts;
}

// Of 600 at once, the last wait longer for a connection of PostgreSQL's pool than it lets anybody wait.
const mostAtOnce = 50;

/** Many instances, with one web key for all: what matters here is that each has keys of its own. */
async function addInstances(kernel: Kernel, count: number): Promise<string[]> {
  const begins = await beginsOf(kernel);
  const allIds = Array.from({ length: count }, () => newInstanceIds(kernel.newId));
  const add = (ids: (typeof allIds)[number]) =>
    kernel.events.transact(
      { instanceId: ids.instance, editorId: "", service: "", clientId: "", requestId: "" },
      (tx) =>
        createInstance(kernel, tx, ids, {
          name: "many",
          domains: [`i${ids.instance}.test`],
          defaultLanguage: "en",
          organizationName: "o",
          begins,
        }),
    );
  for (let first = 0; first < count; first += mostAtOnce) {
    await Promise.all(allIds.slice(first, first + mostAtOnce).map(add));
  }
  return allIds.map(({ instance }) => instance);
}

const canRead = async (kernel: Kernel, ids: string[]) => {
  const reader = webKeyReader(kernel);
  for (const id of ids) assert.ok((await reader.signer(id)).kid);
};

describe("the master key is replaced (F21)", () => {
  it("while a service runs, which goes on without a failure; then the old one is not needed", async () => {
    const place = await newPlace();
    {
      await using first = await place.open(only(1));
      assert.ok(await bootstrap(first));
      await addInstances(first, 20);
      assert.equal(Object.keys(await keysUnder(first)).length, 1);
    }
    // A store that another key has made is served with both.
    await using kernel = await place.open(both(2, 1));
    const ids = [...(await kernel.db.heads()).keys()];
    let running = true;
    let calls = 0;
    const traffic = (async () => {
      while (running) {
        // A reader that remembers nothing: each round opens what is wrapped at that moment.
        await using fresh = await place.open(both(2, 1));
        await canRead(fresh, ids);
        calls += ids.length;
        await delay(1);
      }
    })();
    const work = Promise.all([place.rotate(both(2, 1)), addInstances(kernel, 3)]);
    await work.catch(() => undefined);
    running = false;
    await traffic;
    const [{ code, out }, late] = await work;
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).rewrapped_instances, 21);
    assert.ok(calls > 0);
    const under = await keysUnder(kernel);
    assert.deepEqual(under, { [JSON.parse(out).master_key]: 24 * 3 });

    assert.equal(JSON.parse((await place.rotate(only(2))).out).rewrapped_instances, 0);
    await using later = await place.open(only(2));
    await canRead(later, [...ids, ...late]);
  });

  it("goes on where a kill -9 broke it off, as often as it does, and never stands between", async () => {
    const place = await newPlace();
    let ids: string[];
    {
      await using first = await place.open(only(1));
      ids = await addInstances(first, 600);
    }
    await using kernel = await place.open(both(2, 1));
    const { current } = kernel.masterKeys;
    const done = async () => ((await keysUnder(kernel))[current.id] ?? 0) / 3;
    let broken = 0;
    for (let before = 0; before < ids.length; ) {
      const child = place.spawnRotate(both(2, 1));
      const goal = before + 1;
      while (child.exitCode === null && (await done()) < goal) await delay(1);
      await end(child, "SIGKILL");
      const now = await done();
      assert.ok(now > before || child.exitCode === 0, `${now} after ${before}`);
      if (now < ids.length) broken += 1;
      before = now;
      if (broken >= 3) break;
      // In the middle of it both keys are needed, and are enough.
      await using between = await place.open(both(2, 1));
      await canRead(between, ids.slice(0, 50));
      if (now < ids.length) {
        await assert.rejects(place.open(only(2)), { reason: "MASTER_KEY_WRONG" });
        await assert.rejects(place.open(only(1)), { reason: "MASTER_KEY_WRONG" });
      }
    }
    assert.ok(broken > 0, "no run was broken off");
    const { code } = await place.rotate(both(2, 1));
    assert.equal(code, 0);
    assert.equal(await done(), ids.length);
    await using last = await place.open(only(2));
    await canRead(last, ids);
  });

  const wrong: [string, Env][] = [
    ["a new key alone", only(2)],
    ["two keys that are both wrong", both(2, 3)],
  ];
  for (const [what, env] of wrong) {
    it(`is refused with ${what}, before anything is written`, async () => {
      const place = await newPlace();
      await using first = await place.open(only(1));
      assert.ok(await bootstrap(first));
      const { rows: stored } = await beside(first, wrapped);
      const { code, err } = await place.rotate(env);
      assert.equal(code, 1);
      assert.match(err, /MASTER_KEY_WRONG/);
      assert.ok(!Object.values(env).some((key) => err.includes(key)));
      assert.deepEqual((await beside(first, wrapped)).rows, stored);
    });
  }

  it("is refused without a key, where the store was made with one from outside", async () => {
    const place = await newPlace();
    await using first = await place.open(only(1));
    assert.ok(await bootstrap(first));
    const { code, err } = await place.rotate({});
    assert.equal(code, 1);
    assert.match(err, /MASTER_KEY_MISSING/);
  });

  it("works from the key in the data folder to one of the configuration", async () => {
    const place = await newPlace();
    {
      await using first = await place.open({});
      assert.ok(await bootstrap(first));
    }
    const file = join(place.dataDir, "master.key");
    const env = { ...only(2), IDSVC_MASTER_KEY_PREVIOUS_FILE: file };
    assert.equal(JSON.parse((await place.rotate(env)).out).rewrapped_instances, 1);
    rmSync(file);
    await using later = await place.open(only(2));
    await canRead(later, [...(await later.db.heads()).keys()]);
  });

  it("changes nothing for callers: tokens hold, also where the service knows only the old key", async () => {
    const place = await newPlace();
    const operator = systemCaller();
    await using app = await startTestApp({
      dataDir: place.dataDir,
      env: { ...only(1), ...operator.env },
    });
    using peer = connectPeer(app.port);
    const ask = () => peer.rest("GET", "/resources/v3alpha/web_keys", undefined, app);
    bodyOf(await ask());
    const { code } = await place.rotate(both(2, 1));
    assert.equal(code, 0);
    bodyOf(await ask());
  });
});
