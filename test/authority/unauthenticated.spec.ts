// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { metricsHeaders } from "../support/app.ts";
import { protocols } from "../support/protocols.ts";
import {
  type Answer,
  assertRefused as assertRefusedByOAuth,
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  startOidc,
} from "../support/oidc.ts";
import { assertRefused } from "../support/refusal.ts";

const { getUser, searchUsers } = UserService.method;
const size = 4;

let service: OidcPeer;
let web: MadeClient;
let userId = "";
let addresses = 0;
/** Where nobody has called from before, behind a proxy that is trusted. */
const stranger = () => ({ "x-forwarded-for": `203.0.113.${++addresses}` });

before(async () => {
  service = await startOidc({
    env: {
      IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
      IDSVC_BUDGET_UNAUTHENTICATED: String(size),
    },
  });
  web = await service.addClient();
  userId = await service.addPerson();
});
after(() => service[Symbol.asyncDispose]());

/** The headers of a source that has spent its budget. */
async function spentSource(): Promise<Record<string, string>> {
  const headers = stranger();
  for (let count = 0; count < size; count += 1) {
    const answer = await service.peer.rest("GET", "/resources/v3alpha/users/1", undefined, {
      headers,
    });
    assert.equal(answer.refusal?.reason, "TOKEN_MISSING");
  }
  return headers;
}

/** Sends a form so often that the last one is beyond the budget, and returns the last two answers. */
async function sendTooOften(send: (headers: Record<string, string>) => Promise<Answer>) {
  const headers = stranger();
  const answers: Answer[] = [];
  for (let count = 0; count <= size; count += 1) answers.push(await send(headers));
  const [within, beyond] = answers.slice(-2);
  assert.ok(within !== undefined && beyond !== undefined);
  return { within, beyond };
}

function assertTooMany(answer: Answer): void {
  assertRefusedByOAuth(answer, 429, "temporarily_unavailable");
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
}

describe("D91: calls of one source that prove nothing (J12)", () => {
  for (const protocol of protocols) {
    it(`are refused beyond its budget over ${protocol}, with a valid token they never are`, async () => {
      const headers = await spentSource();
      const ask = (token?: string) =>
        service.peer.call(
          protocol,
          getUser,
          { id: userId },
          token ? { token, headers } : { headers },
        );
      const [missing, wrong] = await Promise.all([ask(), ask("wrong")]);
      for (const refused of [missing, wrong]) {
        assertRefused(refused, { code: 8, reason: "BUDGET_SPENT" });
        assert.deepEqual(refused.ok ? {} : refused.metadata, { budget: "unauthenticated" });
      }
      assert.equal((await ask(service.app.token)).ok, true);
      const elsewhere = await service.peer.call(
        protocol,
        getUser,
        { id: userId },
        { headers: stranger() },
      );
      assertRefused(elsewhere, { code: 16, reason: "TOKEN_MISSING" });
    });
  }

  it("tell by REST how long to wait", async () => {
    const headers = await spentSource();
    const { status, headers: told } = await service.peer.rest(
      "GET",
      "/resources/v3alpha/users/1",
      undefined,
      {
        headers,
      },
    );
    assert.equal(status, 429);
    assert.ok(Number(told["retry-after"]) >= 1);
  });

  it("are counted where the host leads to no instance", async () => {
    const headers = stranger();
    const statuses: number[] = [];
    for (const path of [...Array<string>(size).fill("/resources/v3alpha/users/1"), paths.keys]) {
      const sent = { method: "GET", path, headers: { ...headers, host: "nowhere.example" } };
      statuses.push((await service.peer.send(sent)).status);
    }
    assert.deepEqual(statuses, [...Array<number>(size).fill(404), 429]);
  });

  it("are not those of callers who are known and may not", async () => {
    const headers = stranger();
    const { token } = await service.addMember(await service.addOrganization(), []);
    for (let count = 0; count < size * 2; count += 1) {
      const refused = await service.peer.call("grpc", searchUsers, {}, { token, headers });
      assert.ok(refused.ok || refused.code === 7, JSON.stringify(refused.ok));
    }
    assertRefused(await service.peer.call("grpc", getUser, { id: "1" }, { headers }), {
      code: 16,
      reason: "TOKEN_MISSING",
    });
  });
});

describe("D91: requests of one source that prove nothing, at the endpoints of clients (J12)", () => {
  const wrongSecret = () => basic({ ...web, secret: "wrong" });
  const code = { grant_type: "authorization_code", code: "x", redirect_uri: "https://rp.test/cb" };
  const endpoints: [name: string, path: string, form: Record<string, string>][] = [
    ["token", paths.token, code],
    ["introspection", paths.introspect, { token: "x" }],
    ["revocation", paths.revoke, { token: "x" }],
    ["device authorization", paths.device, { scope: "openid" }],
  ];
  for (const [name, path, form] of endpoints) {
    it(`are refused beyond its budget by that of ${name}`, async () => {
      const { within, beyond } = await sendTooOften((headers) =>
        service.send(path, form, { ...headers, ...wrongSecret() }),
      );
      assertRefusedByOAuth(within, 401, "invalid_client");
      assertTooMany(beyond);
    });
  }

  it("are refused beyond its budget by that of UserInfo", async () => {
    const { within, beyond } = await sendTooOften((headers) =>
      service.send(paths.userinfo, {}, { ...headers, authorization: "Bearer wrong" }),
    );
    assertRefusedByOAuth(within, 401, "invalid_token");
    assertTooMany(beyond);
  });

  it("are those of clients without a secret whose codes are unknown, too", async () => {
    const app = await service.addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE" });
    const form = { ...code, client_id: app.clientId, code_verifier: "v".repeat(43) };
    const { within, beyond } = await sendTooOften((headers) =>
      service.send(paths.token, form, headers),
    );
    assertRefusedByOAuth(within, 400, "invalid_grant");
    assertTooMany(beyond);
  });

  it("are not those of clients that have proven themselves, whatever they ask for", async () => {
    const machine = await service.addMachine();
    const headers = stranger();
    const asWeb = { ...headers, ...basic(web) };
    const asMachine = { ...headers, ...basic(machine) };
    for (let count = 0; count <= size; count += 1) {
      assertRefusedByOAuth(await service.send(paths.token, code, asWeb), 400, "invalid_grant");
      assertRefusedByOAuth(await service.send(paths.introspect, {}, asWeb), 400, "invalid_request");
      assertRefusedByOAuth(await service.send(paths.revoke, {}, asWeb), 400, "invalid_request");
      const own = await service.send(paths.token, { grant_type: "client_credentials" }, asMachine);
      assertRefusedByOAuth(own, 400, "invalid_request");
    }
  });

  it("keep nobody of the source from what they prove", async () => {
    const { access_token: token } = await service.tokensFor(web, userId);
    const headers = await spentSource();
    const asked = await service.send(paths.introspect, { token }, { ...headers, ...basic(web) });
    assert.equal(`${asked.status} ${asked.body.active}`, "200 true");
    const info = { ...headers, authorization: `Bearer ${token}` };
    assert.equal((await service.send(paths.userinfo, {}, info)).status, 200);
    const refused = await service.send(
      paths.introspect,
      { token },
      { ...headers, ...wrongSecret() },
    );
    assertTooMany(refused);
  });
});

it("calls that prove nothing are counted by budgets and never by sources (J12)", async () => {
  const headers = await spentSource();
  const refused = await service.peer.call("rest", getUser, { id: "1" }, { headers });
  assertRefused(refused, { code: 8, reason: "BUDGET_SPENT" });
  const metrics = await fetch(`${service.issuer}/metrics`, { headers: metricsHeaders });
  const text = await metrics.text();
  assert.match(text, /idsvc_budget_refusals_total\{budget="unauthenticated"\} [1-9]/);
  assert.doesNotMatch(text, /203\.0\.113/);
});
