// Run: alone, long
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { perTarget } from "../../src/executor/delivery/deliver.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "../faults/server.ts";
import { connectPeer } from "../support/protocols.ts";
import { bodyOf } from "../support/peer.ts";
import { until } from "./executor-peer.ts";
import { startReceiver } from "./receiver.ts";

const kills = 5;
const writers = 4;
const token = "token-of-the-kill-test";
// What was at work at a kill waits until its lease has run out.
const patienceMs = 120_000;

describe("a service that is killed while events are due (F17)", () => {
  it(`tells its target of every acknowledged event in ${kills} kills, in order per object, repeats with their id`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-executor-"));
    after(() => rmSync(dataDir, { recursive: true, force: true }));
    await using receiver = await startReceiver();
    const place = { dataDir, port: await freePort(), env: { IDSVC_BOOTSTRAP_TOKEN: token } };
    // A few milliseconds, so that kills fall into calls.
    receiver.each("/count", async () => {
      await delay(Math.random() * 20);
      return {};
    });
    const post = async (peer: ReturnType<typeof connectPeer>, path: string, body: object) =>
      peer.rest("POST", `/resources/v3alpha${path}`, body as never, { token });

    /** Sequences of what was acknowledged, by object. */
    const acknowledged = new Map<string, bigint[]>();
    let names = 0;
    for (let round = 0; round <= kills; round++) {
      await using server = await startServer(place);
      const peer = connectPeer(place.port);
      if (round === 0) {
        const target = { name: "count", rest_webhook: { url: receiver.url("/count") } };
        const { details } = bodyOf(await post(peer, "/targets", target), 201);
        const execution = { condition: { event: { group: "org" } }, targets: [details.id] };
        bodyOf(await post(peer, "/executions", execution), 201);
      }
      let isOver = false;
      const write = async () => {
        while (!isOver) {
          const name = `organization ${names++}`;
          const added = await post(peer, "/organizations", { name }).catch(() => undefined);
          if (added?.status !== 201) continue;
          const { id, sequence } = Object(added.json).details;
          const own = [BigInt(sequence)];
          acknowledged.set(String(id), own);
          for (let n = 0; n < 3 && !isOver; n++) {
            const renamed = await peer
              .rest(
                "PATCH",
                `/resources/v3alpha/organizations/${id}`,
                { name: `${name} ${n}` },
                { token },
              )
              .catch(() => undefined);
            if (renamed?.status === 200) own.push(BigInt(Object(renamed.json).details.sequence));
          }
        }
      };
      const before = receiver.calls.length;
      const running = Array.from({ length: writers }, write);
      await until("deliveries of this round", () => receiver.calls.length > before + 20);
      await delay(Math.random() * 200);
      if (round === kills) {
        isOver = true;
        await Promise.all(running);
        const told = () => new Set(receiver.calls.map(({ json }) => String(json.sequence)));
        const all = [...acknowledged.values()].flat().map(String);
        await until("every event", () => told().isSupersetOf(new Set(all)), patienceMs);
        peer[Symbol.dispose]();
        await server.stop();
        break;
      }
      await server.kill();
      isOver = true;
      await Promise.all(running);
      peer[Symbol.dispose]();
    }

    const idOf = new Map<string, string>();
    for (const { headers, json } of receiver.calls) {
      const sequence = String(json.sequence);
      const id = String(headers["idsvc-delivery"]);
      assert.equal(idOf.get(sequence) ?? id, id, `a repeat of ${sequence} has its id`);
      idOf.set(sequence, id);
    }
    for (const [id, sequences] of acknowledged) {
      const heard = receiver.calls
        .filter(({ json }) => json.aggregateID === id)
        .map(({ json }) => BigInt(json.sequence));
      const first = heard.filter((each, nth) => heard.indexOf(each) === nth);
      assert.deepEqual(
        first,
        first.toSorted((a, b) => Number(a - b)),
        `the order of ${id}`,
      );
      assert.deepEqual(
        sequences.filter((each) => !heard.includes(each)),
        [],
      );
    }
    const repeats = receiver.calls.length - idOf.size;
    // No more of a target are at work at a kill.
    assert.ok(repeats <= kills * perTarget, `${repeats} repeats`);
  });
});
