// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enqueue, handle, jobKind } from "../../src/jobs/job.ts";
import type { Module } from "../../src/projection/module.ts";
import { metricsHeaders, startTestApp } from "../support/app.ts";

const greet = jobKind<{ name: string }>("test.greet");

const greeting = (greeted: (name: string) => Promise<void>): Module => ({
  events: [],
  projections: [],
  jobs: () =>
    handle(greet, async ({ payload }) => {
      await greeted(payload.name);
      return "done";
    }),
});

describe("the jobs of a slice", () => {
  it("are done by the running service, counted, and waited for at its stop", async () => {
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    let goOn = () => {};
    const isSeen = new Promise<void>((resolve) => (goOn = resolve));
    const done: string[] = [];
    const slow = greeting(async (name) => {
      begun();
      await isSeen;
      await new Promise((resolve) => setTimeout(resolve, 100));
      done.push(name);
    });
    const app = await startTestApp({ moreModules: [slow] });
    const instanceId = app.made.instance_id;
    const change = enqueue(greet, { instanceId, id: "1", now: new Date() }, { name: "Ada" });
    await app.kernel.db.commit({
      instanceId,
      expect: [],
      claims: [],
      events: [],
      changes: [change],
    });
    await isBegun;
    const metrics = await (await fetch(`${app.url}/metrics`, { headers: metricsHeaders })).text();
    goOn();
    await app[Symbol.asyncDispose]();
    assert.match(metrics, /^idsvc_jobs\{kind="test.greet",state="open"\} 1$/m);
    assert.deepEqual(done, ["Ada"]);
  });
  it("have one handler a kind: a second stops the start", async () => {
    const module = greeting(async () => {});
    await assert.rejects(startTestApp({ moreModules: [module, module] }), /test\.greet/);
  });
});
