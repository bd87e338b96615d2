// Run: shared
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { addCaller } from "../support/app.ts";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { basic, type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { userAgent } from "../support/user-agent.ts";
import { anyAddress, firefox, from, type Origin, seen } from "./origins.ts";

let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc({
    env: {
      IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
      IDSVC_BUDGET_GUESSES: "2",
      IDSVC_BUDGET_FLOWS: "3",
      IDSVC_RATE_LIMIT: "20",
      IDSVC_BUDGET_UNAUTHENTICATED: "2",
    },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

type Refusal = {
  kind: string;
  reason: string;
  operation: string;
  user_id: string;
  count: number;
  origin?: Origin;
};

/** What was refused to an address; it is written within seconds. */
async function refusedTo(address: string, reason: string): Promise<Refusal> {
  for (let waited = 0; ; waited += 100) {
    const all: Refusal[] = bodyOf(await peer.post("/refusals/_search", [])).result ?? [];
    const one = all.find((each) => each.origin?.address === address && each.reason === reason);
    if (one !== undefined) return one;
    assert.ok(waited < 60_000, JSON.stringify(all));
    await delay(100);
  }
}

describe("what came too often (429) is kept with its source (J15)", () => {
  for (const protocol of ["grpc", "rest"] as const) {
    it(`over ${protocol}: calls beyond the limit of a caller`, async () => {
      const { userId, token } = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
      const address = anyAddress();
      const ask = () =>
        peer.peer.call(
          protocol,
          UserService.method.getUser,
          { id: userId },
          { token, headers: from(address) },
        );
      let refused: Awaited<ReturnType<typeof ask>>[] = [];
      // A busy machine may take so long that the limit gives back what was used.
      for (let round = 0; round < 10 && refused.length === 0; round++) {
        const answers = await Promise.all(Array.from({ length: 60 }, ask));
        refused = answers.filter((each) => !each.ok);
      }
      assert.ok(refused.length > 0);
      for (const each of refused) assertRefused(each, { code: 8, reason: "RATE_LIMITED" });
      const kept = await refusedTo(address, "RATE_LIMITED");
      assert.equal(kept.kind, "REFUSAL_KIND_CALL");
      assert.equal(kept.user_id, userId);
      assert.match(kept.operation, /UserService\/GetUser$/);
      assert.equal(seen(kept.origin).address, address);
    });
  }

  it("wrong passwords beyond the budget of their source, over the API and on the pages", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const address = anyAddress();
    const checks = { user: { user_id: id }, password: { password: "wrong" } };
    const guess = () => peer.post("/sessions", { checks }, { headers: from(address) });
    await guess();
    await guess();
    assertRefused((await guess()).refusal, { code: 8, reason: "BUDGET_SPENT" });
    const called = await refusedTo(address, "BUDGET_SPENT");
    assert.equal(called.kind, "REFUSAL_KIND_CALL");
    assert.match(called.operation, /SessionService\/CreateSession$/);

    const other = anyAddress();
    const agent = userAgent(peer.issuer, new Map(), from(other));
    await agent.open(authorizeUrl(peer, web));
    await agent.submit({ login_name: loginName });
    await agent.submit({ password: "wrong" });
    await agent.submit({ password: "wrong" });
    assert.equal((await agent.submit({ password: "wrong" })).status, 429);
    const typed = await refusedTo(other, "BUDGET_SPENT");
    assert.equal(typed.kind, "REFUSAL_KIND_LOGIN");
    assert.equal(typed.operation, "/ui/login/password");
    assert.deepEqual(seen(typed.origin), { address: other, ...firefox.families });
  });

  it("calls and requests of clients that prove nothing, beyond it", async () => {
    const [caller, client] = [anyAddress(), anyAddress()];
    const call = () => peer.get("/users/1", { token: "wrong", headers: from(caller) });
    const ask = () => peer.send(paths.introspect, { token: "x" }, from(client));
    for (const expected of [401, 401, 429]) {
      assert.equal((await call()).status, expected);
      assert.equal((await ask()).status, expected);
    }
    const called = await refusedTo(caller, "BUDGET_SPENT");
    assert.equal(called.kind, "REFUSAL_KIND_CALL");
    assert.match(called.operation, /UserService\/GetUser$/);
    assert.equal(called.user_id, "");
    const asked = await refusedTo(client, "BUDGET_SPENT");
    assert.equal(asked.kind, "REFUSAL_KIND_CLIENT");
    assert.equal(asked.operation, paths.introspect);
  });

  it("log-ins and device requests that are begun beyond it", async () => {
    const [browser, device] = [anyAddress(), anyAddress()];
    for (const expected of [200, 200, 200, 429]) {
      const agent = userAgent(peer.issuer, new Map(), from(browser));
      assert.equal((await agent.open(authorizeUrl(peer, web))).status, expected);
    }
    const begun = await refusedTo(browser, "BUDGET_SPENT");
    assert.equal(begun.kind, "REFUSAL_KIND_LOGIN");
    assert.equal(begun.operation, "/oauth/v2/authorize");

    const ask = () =>
      peer.send(paths.device, { scope: "openid" }, { ...basic(web), ...from(device) });
    for (let count = 0; count < 3; count += 1) assert.notEqual((await ask()).status, 429);
    assert.equal((await ask()).status, 429);
    const asked = await refusedTo(device, "BUDGET_SPENT");
    assert.equal(asked.kind, "REFUSAL_KIND_CLIENT");
    assert.equal(asked.operation, paths.device);
  });
});
