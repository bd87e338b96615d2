// Run: alone
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { describe, it } from "node:test";
import {
  type Check,
  gateFailures,
  judge,
  median,
  ofDiskOrCore,
  percentile,
  ratioOf,
  spread,
} from "./judge.ts";
import { withWaits } from "./load/h2load.ts";
import { runLoad } from "./load/load.ts";
import { counterMark, type LoadSpec } from "./load/spec.ts";

const twice: Check[] = [{ measure: "x peer", must: 2, goal: 4 }];
const gradeOf = (value: number, checks = twice) =>
  judge(checks, new Map([["x peer", value]])).grade;

describe("bench arithmetic", () => {
  it("takes medians and percentiles between values", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([1, 2]), 1.5);
    assert.equal(percentile([0, 10], 90), 9);
    assert.ok(Number.isNaN(median([])));
  });

  it("tells the spread as part of the median", () => {
    assert.equal(spread([90, 100, 110]), 10);
    assert.equal(spread([100]), 0);
  });

  it("divides round by round, so that a slow round does not count", () => {
    assert.equal(ratioOf([100, 10, 100], [50, 5, 50]), 2);
  });

  it("holds a load that waits to the disk where that is slow, and to the core where it is quick", () => {
    const load = { rate: 4_000, cpuRate: 5_000, open: 64, commitMs: 0.05 };
    assert.equal(ofDiskOrCore(load), 0.8);
    assert.equal(ofDiskOrCore({ ...load, rate: 1_600, commitMs: 20 }), 0.5);
  });

  it("grades by must and goal", () => {
    assert.equal(gradeOf(4), "goal");
    assert.equal(gradeOf(2), "must");
    assert.equal(gradeOf(1.9), "missed");
    assert.equal(judge(twice, new Map()).grade, "none");
  });

  it("reads bounds that must not be passed the other way round", () => {
    const atMost: Check[] = [{ measure: "x peer", goal: 25, atMost: true }];
    assert.equal(gradeOf(20, atMost), "goal");
    assert.equal(gradeOf(50, atMost), "must");
    assert.equal(judge(atMost, new Map([["x peer", 50]])).text, "goal 0.50");
  });

  it("fails the gate on the second miss, and at once on a wrong answer", () => {
    const ok = { id: "a", grade: "must" } as const;
    const miss = { id: "a", grade: "missed" } as const;
    assert.deepEqual(gateFailures([[miss], [ok]]), []);
    assert.deepEqual(gateFailures([[miss], [ok], [miss]]), ["a"]);
    assert.deepEqual(gateFailures([[{ id: "b", grade: "failed" }]]), ["b"]);
  });
});

describe("the load", () => {
  /** Drives a server for a second with what a spec sends, and gives the bodies that came. */
  async function bodiesOf(sent: Partial<LoadSpec>) {
    const bodies: string[] = [];
    const server = http.createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        bodies.push(body);
        response.end();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    const one = { method: "POST", path: "/", headers: {}, body: "", counted: false };
    const shape = { protocol: "http1" as const, port: address.port, connections: 2, streams: 1 };
    try {
      return { bodies, result: await runLoad({ ...one, ...shape, ...sent }, 1) };
    } finally {
      server.close();
    }
  }

  it("ends with the values that it uses up", async () => {
    const values = Array.from({ length: 5 }, (_, nth) => `code-${nth}`);
    const body = Buffer.from(`code=${counterMark}`).toString("base64");
    const { bodies, result } = await bodiesOf({ body, feed: { values } });
    assert.deepEqual(bodies.toSorted(), values.map((value) => `code=${value}`).toSorted());
    assert.deepEqual([result.problem, result.requests], ["", 5]);
    assert.ok(result.seconds < 1);
  });

  it("sends bodies in turn", async () => {
    const all = ["a", "b", "c"];
    const inTurn = all.map((text) => Buffer.from(text).toString("base64"));
    const { bodies } = await bodiesOf({ bodies: inTurn });
    const counts = all.map((text) => bodies.filter((body) => body === text).length);
    assert.notEqual(bodies.length, 0);
    // Of each connection one may be under way at the end.
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 3, counts.join());
  });

  it("counts what was due while a connection waited for an answer", () => {
    assert.deepEqual(withWaits([5, 64, 150], 64), [5, 64, 150, 86, 22]);
  });

  const body = Buffer.from("a").toString("base64");
  // Several bodies are sent by the generator that is built in, one by h2load where it is installed.
  for (const [which, sent] of Object.entries({
    "built in": { bodies: [body] },
    chosen: { body },
  })) {
    it(`sends at a rate and does not count what it warms up with: the generator ${which}`, async () => {
      const { bodies, result } = await bodiesOf({ perSecond: 50, warmUpSeconds: 1, ...sent });
      assert.equal(result.problem, "");
      assert.ok(result.requests > 0 && bodies.length > result.requests);
      assert.ok(bodies.length <= 101, `${bodies.length} requests`);
      assert.equal(Math.round(result.seconds), 1);
    });
  }
});
