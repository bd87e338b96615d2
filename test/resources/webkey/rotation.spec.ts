// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, SignJWT } from "jose";
import { type PublishedKey, webKeyReader } from "../../../src/resources/webkey/index.ts";
import { webKeys } from "../../../src/resources/webkey/web-key.ts";
import {
  publishedAheadMs,
  rotateWebKeys,
  rotationSteps,
  startRotation,
  usualTimes,
} from "../../../src/resources/webkey/rotation.ts";
import { type Held, holdLease } from "../../../src/storage/lease.ts";
import { deleteRows } from "../../../src/storage/row-change.ts";
import { beside } from "../../support/beside.ts";
import { depsTold } from "../../support/deps.ts";
import { engine } from "../../support/app.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";
import { roundsOf } from "../../support/rounds.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const { periodMs, tokenLifeMs } = usualTimes;
const timesOf = async () => usualTimes;
const onError = (error: unknown) => assert.fail(String(error));

/**
 * A service whose clock the test moves, and whose keys the test rotates. The service's own rotation has lost its lease
 * to nobody who works, so what it began before the clock moved, and its look of every minute, change nothing.
 */
async function startClocked() {
  let shift = 0;
  const told = depsTold();
  const now = () => new Date(Date.now() + shift);
  const peer = await startPeer({ now, moreModules: [told.module] });
  const deps = told.deps();
  const lease = holdLease({ db: deps.db, name: "test of rotation" });
  await lease.renew();
  const isHeld = "SELECT 1 FROM leases WHERE name = 'web_key_rotation'";
  while ((await beside(peer.app.kernel, isHeld)).rows.length === 0) await delay(5);
  const lost = "UPDATE leases SET holder = 'nobody' WHERE name = 'web_key_rotation'";
  await beside(peer.app.kernel, lost);
  const { instance_id: instanceId } = peer.app.made;
  const reader = webKeyReader(deps);
  return {
    peer,
    deps,
    instanceId,
    reader,
    now,
    lease,
    held: () => lease.held(),
    pass: (ms: number) => void (shift += ms),
    rotate: () => rotateWebKeys(deps, timesOf, { held: () => lease.held(), onError }),
    add: async (key: JsonObject): Promise<string> =>
      bodyOf(await peer.post("/web_keys", key), 201).details.id,
    activate: async (id: string) => bodyOf(await peer.post(`/web_keys/${id}/_activate`)),
    /** State by id. */
    async states(): Promise<Record<string, string>> {
      const { web_keys } = bodyOf(await peer.get("/web_keys"));
      return Object.fromEntries(
        web_keys.map((key: { details: { id: string }; state: string }) => [
          key.details.id,
          key.state.replace("WEB_KEY_STATE_", ""),
        ]),
      );
    },
    async [Symbol.asyncDispose]() {
      await lease[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
    },
  };
}

describe("rotation of web keys", () => {
  it("publishes the next key a day before it signs, and removes the old one when its tokens are over", async () => {
    await using service = await startClocked();
    const { pass, rotate, states, reader, instanceId } = service;
    const [first = ""] = Object.keys(await states());
    await rotate();
    pass(periodMs - publishedAheadMs - hourMs);
    await rotate();
    assert.deepEqual(await states(), { [first]: "ACTIVE" });

    pass(2 * hourMs);
    await rotate();
    await rotate();
    const [next = "", ...others] = Object.keys(await states()).filter((id) => id !== first);
    assert.deepEqual(others, []);
    assert.deepEqual(await states(), { [first]: "ACTIVE", [next]: "INITIAL" });
    assert.ok((await reader.publicKeys(instanceId)).some(({ kid }) => kid === next));
    assert.equal((await reader.signer(instanceId)).kid, first);

    pass(publishedAheadMs - hourMs / 2);
    await rotate();
    assert.equal((await states())[next], "INITIAL");
    pass(hourMs);
    await rotate();
    assert.deepEqual(await states(), { [first]: "INACTIVE", [next]: "ACTIVE" });
    assert.equal((await reader.signer(instanceId)).kid, next);

    pass(tokenLifeMs);
    await rotate();
    assert.equal((await states())[first], "INACTIVE");
    pass(2 * hourMs);
    await rotate();
    assert.deepEqual(await states(), { [next]: "ACTIVE" });
    const { rows } = await beside(
      service.peer.app.kernel,
      "SELECT id FROM secrets WHERE kind = 'web_key'",
    );
    assert.deepEqual(rows, [[next]]);
  });

  it("takes a published key of the same kind for the next one, and never another kind", async () => {
    await using service = await startClocked();
    const { pass, rotate, states, add } = service;
    const [first = ""] = Object.keys(await states());
    const other = await add({ ed25519: {} });
    const same = await add({ rsa: {} });
    pass(periodMs + hourMs);
    await rotate();
    assert.deepEqual(await states(), { [first]: "INACTIVE", [same]: "ACTIVE", [other]: "INITIAL" });
  });

  it("waits a day from the publication also where the service stood still until long after", async () => {
    await using service = await startClocked();
    const { pass, rotate, states } = service;
    const [first = ""] = Object.keys(await states());
    pass(3 * periodMs);
    await rotate();
    pass(publishedAheadMs - hourMs);
    await rotate();
    assert.equal((await states())[first], "ACTIVE");
    pass(2 * hourMs);
    await rotate();
    assert.equal((await states())[first], "INACTIVE");
  });

  it("keeps the key that signs for apps which ask for another algorithm", async () => {
    await using service = await startClocked();
    const { pass, rotate, states, add, activate, reader, instanceId } = service;
    const [rsa = ""] = Object.keys(await states());
    await activate(await add({ ed25519: {} }));
    pass(2 * dayMs);
    await rotate();
    assert.equal((await states())[rsa], "INACTIVE");
    assert.equal((await reader.signer(instanceId, "RS256"))?.kid, rsa);
  });

  it("gives an instance of an older store its first key", async () => {
    await using service = await startClocked();
    const { peer, rotate, states, reader, instanceId } = service;
    // By the store itself, whose caches know of it at once.
    const changes = [deleteRows(webKeys.table, { instanceId })];
    await peer.app.kernel.db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    await rotate();
    assert.deepEqual(Object.values(await states()), ["ACTIVE"]);
    assert.ok((await reader.signer(instanceId)).kid);
  });

  it("goes on with the next instance when one fails", async () => {
    await using service = await startClocked();
    const failures: unknown[] = [];
    const failing = async () => Promise.reject(new Error("of this instance"));
    const by = { held: service.held, onError: (error: unknown) => void failures.push(error) };
    await rotateWebKeys(service.deps, failing, by);
    assert.equal(failures.length, 1);
  });

  it("is fenced: who lost the lease changes nothing (F14)", async () => {
    await using service = await startClocked();
    const { deps, states, pass, lease } = service;
    const before = await states();
    const stale = lease.held();
    assert.ok(stale !== undefined);
    await lease[Symbol.asyncDispose]();
    pass(2 * periodMs);
    const failures: unknown[] = [];
    const by = {
      held: (): Held => stale,
      onError: (error: unknown) => void failures.push(error),
    };
    await rotateWebKeys(deps, timesOf, by);
    assert.equal(failures.length, 1);
    assert.deepEqual(await states(), before);
  });

  it("happens by itself in one of several processes", async () => {
    await using service = await startClocked();
    const { deps, pass, states } = service;
    // Somebody holds the lease of that name: another one waits for it and does nothing.
    const others = [startRotation(deps, timesOf, { onError, everyMs: 5 })];
    pass(periodMs);
    await delay(100);
    assert.equal(Object.keys(await states()).length, 1);
    await beside(service.peer.app.kernel, "UPDATE leases SET expires = 0");
    others.push(startRotation(deps, timesOf, { onError, everyMs: 5 }));
    for (const end = Date.now() + 60_000; Object.keys(await states()).length < 2; await delay(10)) {
      assert.ok(Date.now() < end, "the key was never published");
    }
    for (const each of others) await each[Symbol.asyncDispose]();
  });
});

describe("what is due among keys", () => {
  it("waits a day also where the period is shorter than that", () => {
    const at = (ms: number) => new Date(ms);
    const key = (id: string, state: "initial" | "active", date: number) => ({
      instanceId: "i",
      id,
      state,
      alg: "EdDSA" as const,
      config: { type: "ed25519" as const },
      publicKey: { kty: "OKP" as const, crv: "", x: "" },
      sequence: 1n,
      creationDate: at(date),
      changeDate: at(date),
    });
    const times = { periodMs: hourMs, tokenLifeMs: hourMs };
    const active = key("1", "active", 0);
    assert.deepEqual(rotationSteps([active], times, at(0)), [
      { do: "publish", config: { type: "ed25519" } },
    ]);
    const both = [key("2", "initial", 0), active];
    assert.deepEqual(rotationSteps(both, times, at(dayMs - 1)), []);
    assert.deepEqual(rotationSteps(both, times, at(dayMs)), [{ do: "activate", id: "2" }]);
  });
});

describe("rotation under traffic (F21)", () => {
  // The same code over either store: all of them once a run, and a fifth beside the slower one.
  const rotations = engine === "sqlite" ? 100 : roundsOf(20);
  const verifiers = 8;
  const cacheMs = 5 * 60_000;

  it(`refuses no living token in ${rotations} rotations, to ${verifiers} verifiers that cache keys for 5 minutes`, async () => {
    await using service = await startClocked();
    const { reader, instanceId, rotate, pass, now, add, activate, states } = service;
    await activate(await add({ ed25519: {} }));
    const caches = Array.from({ length: verifiers }, () => ({ until: 0, keys: [] as unknown[] }));
    let tokens: { text: string; until: number }[] = [];
    const signers = new Set<string>();
    let verified = 0;

    async function verifyAll(): Promise<void> {
      const { kid, alg, key } = await reader.signer(instanceId);
      signers.add(kid);
      const text = await new SignJWT({}).setProtectedHeader({ alg, kid }).sign(key);
      const at = now().getTime();
      tokens = [...tokens, { text, until: at + tokenLifeMs }].filter(({ until }) => at < until);
      for (const [turn, cache] of caches.entries()) {
        if (cache.until <= at) {
          cache.keys = await reader.publicKeys(instanceId);
          cache.until = at + cacheMs - turn * 20_000;
        }
        // It knows what it cached and asks for nothing else.
        const set: JSONWebKeySet = { keys: cache.keys as PublishedKey[] };
        for (const token of tokens) {
          await jwtVerify(token.text, createLocalJWKSet(set));
          verified += 1;
        }
      }
    }

    await verifyAll();
    while (signers.size <= rotations) {
      pass(periodMs - publishedAheadMs);
      for (const step of [0, publishedAheadMs, 60_000, tokenLifeMs / 2, tokenLifeMs / 3]) {
        pass(step);
        await rotate();
        await verifyAll();
      }
    }
    assert.ok(verified > rotations * verifiers * 5);
    // The active one, the one before, and the RSA key of the start: they do not pile up.
    assert.ok(Object.keys(await states()).length <= 4);
  });
});
