// Run: shared, store
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { addCaller } from "../support/app.ts";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { basic, type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { userAgent } from "../support/user-agent.ts";
import { systemCaller } from "../support/system-caller.ts";
import { sweepExpiredRows } from "../../src/jobs/expired-rows.ts";
import { refusals as table } from "../../src/resources/event/refusals/table.ts";
import { createTally } from "../../src/resources/event/refusals/tally.ts";
import { anyAddress, firefox, from, type Origin, seen } from "./origins.ts";

const operator = systemCaller();
let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc({
    env: { ...operator.env, IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1", IDSVC_BUDGET_GUESSES: "0" },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

type Refusal = {
  kind: string;
  reason: string;
  operation: string;
  user_id?: string;
  client_id?: string;
  organization_id?: string;
  count: number;
  origin?: Origin;
};
type Filter = { user: { id: string } } | { client: { id: string } } | { kind: { kind: string } };

const nothing = { address: undefined, browser: undefined, system: undefined };

const search = async (filters: Filter[], token = peer.app.token): Promise<Refusal[]> =>
  bodyOf(await peer.post("/refusals/_search", filters, { token })).result ?? [];

/** They are written within seconds. */
async function refusals(filters: Filter[], isThere: (all: Refusal[]) => boolean) {
  for (let waited = 0; ; waited += 50) {
    const all = await search(filters);
    if (isThere(all)) return all;
    assert.ok(waited < 60_000, JSON.stringify(all));
    await delay(50);
  }
}

const some = (all: Refusal[]) => all.length > 0;

async function guess(loginName: string, address: string, times = 1): Promise<void> {
  const agent = userAgent(peer.issuer, new Map(), from(address));
  await agent.open(authorizeUrl(peer, web));
  await agent.submit({ login_name: loginName });
  for (let count = 0; count < times; count += 1) {
    assert.match((await agent.submit({ password: "wrong" })).html, /name or password is wrong/);
  }
}

describe("refused log-ins (J15)", () => {
  it("are records with their source, counted together by source and minute", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const [first, second] = [anyAddress(), anyAddress()];
    await guess(loginName, first, 3);
    await guess(loginName, second);
    const of = (all: Refusal[], address: string) =>
      all
        .filter((each) => each.origin?.address === address)
        .reduce((sum, { count }) => sum + count, 0);
    const all = await refusals(
      [{ user: { id } }],
      (found) => of(found, first) === 3 && of(found, second) === 1,
    );
    // A minute may end between them.
    assert.ok(all.length <= 3);
    for (const each of all) {
      assert.deepEqual([each.kind, each.reason], ["REFUSAL_KIND_LOGIN", "WRONG"]);
      assert.equal(each.user_id, id);
      assert.equal(each.organization_id, peer.app.made.organization_id);
      assert.deepEqual(seen(each.origin), { ...seen(each.origin), ...firefox.families });
    }
  });

  it("of an account that is closed say so, and go with the account", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    await guess(loginName, anyAddress(), 11);
    await refusals([{ user: { id } }], (all) => all.some(({ reason }) => reason === "CLOSED"));
    bodyOf(await peer.remove(`/users/${id}`));
    assert.deepEqual(await search([{ user: { id } }]), []);
  });

  it("by a name that nobody has are the instance's alone", async () => {
    const address = anyAddress();
    await guess("nobody-of-this-name", address);
    const ofThis = (all: Refusal[]) => all.filter((each) => each.origin?.address === address);
    const all = await refusals([], (found) => some(ofThis(found)));
    const [one] = ofThis(all);
    assert.equal(one?.reason, "UNKNOWN");
    assert.equal(one?.user_id, "");
    const owner = await peer.addMember(peer.app.made.organization_id, ["ORG_OWNER"]);
    const seenByOwner = await search([], owner.token);
    assert.deepEqual(ofThis(seenByOwner), []);
    assert.ok(seenByOwner.every((each) => each.organization_id !== ""));
  });
});

describe("clients that do not prove themselves", () => {
  const ask = (path: string, by: { clientId: string; secret: string }, address: string) =>
    peer.send(
      path,
      { grant_type: "authorization_code", code: "c", token: "t" },
      {
        ...basic(by),
        ...from(address, "okhttp/4.12.0"),
      },
    );

  it("are records with their source, of which client only where it is one", async () => {
    const address = anyAddress();
    for (const path of [paths.token, paths.introspect]) {
      assert.equal((await ask(path, { ...web, secret: "wrong" }, address)).status, 401);
    }
    const all = await refusals([{ client: { id: web.clientId } }], (found) => found.length === 2);
    assert.deepEqual(all.map(({ operation }) => operation).sort(), [paths.introspect, paths.token]);
    for (const each of all) {
      assert.deepEqual([each.kind, each.reason], ["REFUSAL_KIND_CLIENT", "INVALID_CLIENT"]);
      const source = { address, browser: "OkHttp", system: "other" };
      assert.deepEqual(seen(each.origin), source);
    }
    const unknown = anyAddress();
    const wanted = { clientId: "no-such-client", secret: "wrong" };
    assert.equal((await ask(paths.token, wanted, unknown)).status, 401);
    const found = await refusals([{ kind: { kind: "REFUSAL_KIND_CLIENT" } }], (every) =>
      every.some((each) => each.origin?.address === unknown),
    );
    const one = found.find((each) => each.origin?.address === unknown);
    assert.equal(one?.client_id, "");
    assert.ok(!JSON.stringify(found).includes("no-such-client"));
  });
});

describe("calls of callers who may not make them", () => {
  it("are records with reason, method and source", async () => {
    const caller = await addCaller(peer.app, []);
    const address = anyAddress();
    const options = { token: caller.token, headers: from(address) };
    const { refusal } = await peer.post("/organizations", { name: "mine" }, options);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const [one] = await refusals([{ user: { id: caller.userId } }], some);
    assert.deepEqual([one?.kind, one?.reason], ["REFUSAL_KIND_CALL", "PERMISSION_MISSING"]);
    assert.match(String(one?.operation), /^\/idsvc\..*\/CreateOrganization$/);
    assert.deepEqual(seen(one?.origin), { address, ...firefox.families });
  });
});

describe("who reads what was refused", () => {
  it("holds session.read: of their organization, or of all", async () => {
    const organizationId = await peer.addOrganization();
    const { id, loginName } = await addPersonNamed(peer);
    await guess(loginName, anyAddress());
    await refusals([{ user: { id } }], some);
    const other = await peer.addMember(organizationId, ["ORG_OWNER"]);
    assert.deepEqual(await search([], other.token), []);
    const none = await addCaller(peer.app, []);
    const refused = await peer.post("/refusals/_search", [], { token: none.token });
    assertRefused(refused.refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const manager = await peer.addMember(peer.app.made.organization_id, ["ORG_USER_MANAGER"]);
    const [one] = await search([{ user: { id } }], manager.token);
    assert.notDeepEqual(seen(one?.origin), nothing);
  });
});

describe("what is older than the audit log retention", () => {
  it("is hidden, and gone after 90 days", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    await guess(loginName, anyAddress());
    await refusals([{ user: { id } }], some);
    const limit = async (retention: string) =>
      bodyOf(
        await peer.post(
          `/instances/${peer.app.made.instance_id}/_limit`,
          { audit_log_retention: retention },
          { token: await operator.tokenFor(peer.issuer, peer.now()) },
        ),
      );
    peer.pass(7_200_000);
    assert.ok(some(await search([{ user: { id } }])));
    await limit("3600s");
    await refusals([{ user: { id } }], (all) => !some(all));
    await limit("315360000s");
    await refusals([{ user: { id } }], some);
    peer.pass(90 * 24 * 3_600_000);
    const { db, now } = peer.deps;
    await sweepExpiredRows({ db, now }, table)(1_000);
    assert.deepEqual(await search([{ user: { id } }]), []);
  });
});

describe("a flood of refusals", () => {
  const note = (nth: number) => ({
    instanceId: "1",
    kind: "login" as const,
    reason: "UNKNOWN",
    operation: "/",
    presence: { address: `198.51.${Math.floor(nth / 250)}.${nth % 250}`, browser: "", system: "" },
  });

  it("from many sources makes a bounded number of rows an hour, and nothing is left uncounted", () => {
    const tally = createTally(100);
    const start = Date.UTC(2026, 0, 1);
    let rows = 0;
    let sum = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      for (let nth = 0; nth < 200; nth += 1) {
        tally.add(note(minute * 200 + nth), new Date(start + minute * 60_000));
      }
      for (const { count } of tally.due()) {
        rows += 1;
        sum += count;
      }
    }
    // A hundred by themselves, and one in each minute for all others.
    assert.equal(rows, 160);
    assert.equal(sum, 60 * 200);
  });

  it("from one /64 is one row a minute", () => {
    const tally = createTally(100);
    for (let nth = 0; nth < 50; nth += 1) {
      const presence = { address: `2001:db8::${nth.toString(16)}`, browser: "", system: "" };
      tally.add({ ...note(0), presence }, new Date(0));
    }
    assert.deepEqual(
      tally.due().map(({ count }) => count),
      [50],
    );
  });
});
