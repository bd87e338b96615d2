// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRateLimiter } from "../../src/api/interceptors/rate-limit.ts";
import { addCaller, startTestApp, type TestApp } from "../support/app.ts";

describe("IDSVC_RATE_LIMIT", () => {
  let service: TestApp;
  before(async () => {
    service = await startTestApp({ env: { IDSVC_RATE_LIMIT: "5" } });
  });
  after(() => service[Symbol.asyncDispose]());

  const search = (token: string) =>
    fetch(`${service.url}/resources/v3alpha/targets/_search`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });

  it("refuses a caller's calls beyond it with code 8 and Retry-After", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => search(service.token)));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 5, `${refused.length} of 12 were refused`);
    assert.equal(answers.length - refused.length >= 5, true);
    assert.equal(refused[0]?.headers.get("retry-after"), "1");
    const body = JSON.parse((await refused[0]?.text()) ?? "");
    assert.deepEqual([body.code, body.details[0].reason], [8, "RATE_LIMITED"]);
  });

  it("counts every caller alone", async () => {
    const other = await addCaller(service, ["IAM_OWNER"]);
    assert.equal((await search(other.token)).status, 200);
  });
});

describe("the rate limiter", () => {
  it("gives back what time earns", async () => {
    const limit = createRateLimiter(20);
    for (let call = 0; call < 20; call++) limit("somebody");
    assert.throws(() => limit("somebody"), { reason: "RATE_LIMITED" });
    await new Promise((go) => setTimeout(go, 120));
    limit("somebody");
  });
});
