// Run: shared
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { parseStrictJson } from "../../src/api/transcode/strict-json.ts";
import { createEgressClient } from "../../src/egress/client.ts";
import { systemResolver } from "../../src/egress/resolver.ts";
import { parseEgressAllow } from "../../src/egress/url-guard.ts";
import { DomainError } from "../../src/errors.ts";
import { createExecutor, type FunctionContext } from "../../src/executor/index.ts";
import { membershipReader } from "../../src/resources/membership/index.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { addCaller } from "../support/app.ts";
import { depsTold } from "../support/deps.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";

const told = depsTold();
const peer = await startExecutorPeer({ moreModules: [told.module] });
const { receiver, app } = peer;
const { db } = app.kernel;
const executor = createExecutor(told.deps(), {
  db,
  methodOf: () => undefined,
  outside: createEgressClient({
    allow: parseEgressAllow(["127.0.0.0/8"]),
    resolver: systemResolver(),
    userAgent: "idsvc/test",
  }),
  logger: silentLogger(),
  memberships: membershipReader(db),
  parseJson: (bytes) => parseStrictJson(bytes),
});
const running = executor.start();
after(async () => {
  await running[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
});
afterEach(async () => {
  await peer.clear();
  receiver.calls.length = 0;
});

const user = await addCaller(app, []);
const at = (more: Partial<FunctionContext> = {}): FunctionContext => ({
  instanceId: app.made.instance_id,
  userId: user.userId,
  requestId: "r",
  ...more,
});
const run = async (
  payload: JsonObject = { userinfo: { sub: "1", email: "a@b.test" } },
  place = at(),
) => executor.runFunction(place, "preaccesstoken", async () => payload);
const answers = async (json: unknown, more: JsonObject = {}, path = "/answer") => {
  receiver.on(path, { json });
  return (await peer.asker(more, path)).id;
};
const onToken = { function: "preaccesstoken" };
const refusedWith = (reason: string) => (error: unknown) =>
  error instanceof DomainError && error.reason === reason;

describe("a function", () => {
  it("gives nothing, without a promise, where nothing is set", async () => {
    await run();
    const nothing = { claims: [], logClaims: [], metadata: [] };
    assert.deepEqual(
      executor.runFunction(at(), "preuserinfo", async () => ({})),
      nothing,
    );
  });

  it("tells its target the bare name and what is known, and adds what that answers", async () => {
    const id = await answers({
      append_claims: [{ key: "level", value: { of: ["gold"] } }],
      append_log_claims: ["seen"],
      set_user_metadata: [{ key: "last", value: "AQI=" }],
    });
    await peer.set(onToken, [id]);
    const additions = await run();
    assert.deepEqual(receiver.calls[0]?.json, {
      userinfo: { sub: "1", email: "a@b.test" },
      function: "preaccesstoken",
    });
    assert.deepEqual(additions, {
      claims: [{ key: "level", value: { of: ["gold"] } }],
      logClaims: ["seen"],
      metadata: [{ key: "last", value: Buffer.from([1, 2]) }],
    });
  });

  it("unites what several targets add: a later one sees it, and takes nothing back", async () => {
    const one = await answers({ append_claims: [{ key: "a", value: 1 }] }, {}, "/one");
    const two = await answers(
      {
        append_claims: [
          { key: "a", value: 2 },
          { key: "b", value: 3 },
        ],
      },
      {},
      "/two",
    );
    await peer.set(onToken, [one, two]);
    const { claims, logClaims } = await run();
    assert.deepEqual(claims, [
      { key: "a", value: 1 },
      { key: "b", value: 3 },
    ]);
    assert.equal(receiver.at("/two")[0]?.json.userinfo.a, 1);
    assert.deepEqual(logClaims, ['claim "a" is there already and was left out']);
  });

  for (const claim of [
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "nbf",
    "jti",
    "azp",
    "act",
    "nonce",
    "auth_time",
    "acr",
    "amr",
    "at_hash",
    "c_hash",
    "sid",
    "urn:idsvc:iam:org:project:roles",
    "__proto__",
    "email",
  ]) {
    it(`D68: no target sets ${claim}`, async () => {
      await peer.set(onToken, [
        await answers({ append_claims: [{ key: claim, value: "forged" }] }),
      ]);
      const { claims, logClaims } = await run();
      assert.deepEqual(claims, []);
      assert.match(logClaims[0] ?? "", /left out$/);
    });
  }

  for (const [what, json] of [
    ["an unknown member", { append_claims: [], roles: ["IAM_OWNER"] }],
    ["a list", []],
    ["claims that are no list", { append_claims: { sub: "2" } }],
    ["an entry without a key", { append_claims: [{ value: 1 }] }],
    ["an entry without a value", { append_claims: [{ key: "a" }] }],
    ["metadata that is no base64", { set_user_metadata: [{ key: "a", value: "?" }] }],
    ["log claims that are no texts", { append_log_claims: [1] }],
    ["more than a token can carry", { append_claims: [{ key: "a", value: "x".repeat(20_000) }] }],
    [
      "more entries than anybody needs",
      { append_log_claims: Array.from({ length: 101 }, () => "") },
    ],
  ] as const) {
    it(`D68: an answer with ${what} is an error of the target, and nothing of it counts`, async () => {
      await peer.set(onToken, [await answers(json)]);
      assert.deepEqual(await run(), { claims: [], logClaims: [], metadata: [] });
      await peer.set(onToken, [await answers(json, { interrupt_on_error: true })]);
      await assert.rejects(run(), refusedWith("EXECUTION_FAILED"));
    });
  }

  it("is refused in the words of a target that interrupts", async () => {
    const forward = { forwardedStatusCode: 403, forwardedErrorMessage: "not in this country" };
    await peer.set(onToken, [await answers(forward, { interrupt_on_error: true })]);
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof DomainError);
      assert.deepEqual([error.kind, error.message], ["permissionDenied", "not in this country"]);
      return true;
    });
  });

  it("D69: never keeps out who can repair it: what was added before counts", async () => {
    const owner = at({ userId: app.made.machine.user_id });
    const first = await answers({ append_claims: [{ key: "a", value: 1 }] }, {}, "/first");
    receiver.on("/down", { status: 500 });
    const { id: down } = await peer.webhook({ interrupt_on_error: true }, "/down");
    await peer.set(onToken, [first, down]);
    await assert.rejects(run(), refusedWith("EXECUTION_FAILED"));
    await assert.rejects(
      run(undefined, at({ userId: undefined })),
      refusedWith("EXECUTION_FAILED"),
    );
    const { claims } = await run(undefined, owner);
    assert.deepEqual(claims, [{ key: "a", value: 1 }]);
  });

  it("D69: goes no deeper than calls do", async () => {
    await peer.set(onToken, [await answers({})]);
    const deep = at({ requestId: "r.d3" });
    await assert.rejects(run(undefined, deep), refusedWith("EXECUTION_DEPTH_EXCEEDED"));
    await run(undefined, at({ requestId: "r.d2" }));
    assert.equal(receiver.calls[0]?.headers["idsvc-depth"], "3");
  });

  it("calls asynchronous targets when it is over", async () => {
    const { id } = await peer.asker({ is_async: true }, "/later");
    await peer.set(onToken, [id]);
    assert.deepEqual((await run()).claims, []);
    await until("the call", () => receiver.at("/later").length === 1);
  });
});
