// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRateLimiter } from "../../src/api/interceptors/rate-limit.ts";
import { reading } from "../../src/api/method-rule.ts";
import { restBindings } from "../../src/api/transcode/body.ts";
import { services } from "./samples.ts";
import { addCaller, startTestApp, type TestApp } from "../support/app.ts";

const perSecond = 5;

describe("IDSVC_RATE_LIMIT", () => {
  let service: TestApp;
  before(async () => {
    service = await startTestApp({ env: { IDSVC_RATE_LIMIT: String(perSecond) } });
  });
  after(() => service[Symbol.asyncDispose]());

  const search = (token: string) =>
    fetch(`${service.url}/resources/v3alpha/targets/_search`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });

  it("refuses a caller's calls beyond it with code 8 and Retry-After", async () => {
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => search(service.token)));
    const seconds = (performance.now() - begun) / 1_000;
    const refused = answers.filter(({ status }) => status === 429);
    const answered = answers.filter(({ status }) => status === 200).length;
    assert.equal(answered + refused.length, answers.length);
    assert.ok(refused.length >= 5, `${refused.length} were refused`);
    // What the calls take earns some more.
    const most = perSecond * (1 + seconds);
    assert.ok(answered >= perSecond && answered <= most, `${answered} in ${seconds} s`);
    assert.equal(refused[0]?.headers.get("retry-after"), "1");
    const body = JSON.parse((await refused[0]?.text()) ?? "");
    assert.deepEqual([body.code, body.details[0].reason], [8, "RATE_LIMITED"]);
  });

  it("counts every caller alone", async () => {
    const other = await addCaller(service, ["IAM_OWNER"]);
    assert.equal((await search(other.token)).status, 200);
  });
});

const unlimited = { caller: 0, callerChanges: 0, instance: 0, instanceChanges: 0 };
const by = (userId: string, instanceId = "1") => ({
  instanceId,
  caller: { kind: "user" as const, userId, organizationId: "1", tokenKind: "pat" },
});
const system = { instanceId: "1", caller: { kind: "system" as const, name: "operator" } };
const rateLimited = { reason: "RATE_LIMITED" };

describe("the rate limiter", () => {
  it("gives back what time earns", async () => {
    const limit = createRateLimiter({ ...unlimited, caller: 20 });
    for (let call = 0; call < 20; call++) limit(by("somebody"), false);
    assert.throws(() => limit(by("somebody"), false), rateLimited);
    await new Promise((go) => setTimeout(go, 120));
    limit(by("somebody"), false);
  });

  it("has a limit of its own for changes", () => {
    const limit = createRateLimiter({ ...unlimited, caller: 20, callerChanges: 2 });
    for (let call = 0; call < 2; call++) limit(by("somebody"), true);
    assert.throws(() => limit(by("somebody"), true), rateLimited);
    limit(by("somebody"), false);
    limit(by("another"), true);
  });

  it("bounds all callers of an instance together, but for system callers", () => {
    const limit = createRateLimiter({ ...unlimited, instance: 4, instanceChanges: 1 });
    limit(by("one"), true);
    assert.throws(() => limit(by("two"), true), rateLimited);
    for (const who of ["two", "three"]) limit(by(who), false);
    assert.throws(() => limit(by("four"), false), rateLimited);
    limit(by("one", "2"), true);
    limit(system, true);
  });

  it("takes whatever is reached by GET for a call that reads", () => {
    const read = services
      .flatMap(({ methods }) => methods)
      .filter((method) => restBindings(method).some(({ httpMethod }) => httpMethod === "GET"));
    assert.ok(read.length > 30);
    const others = read.filter(({ name }) => !reading.test(name)).map(({ name }) => name);
    assert.deepEqual(others, []);
  });
});
