// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addCaller } from "../support/app.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { basic, type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { systemCaller } from "../support/system-caller.ts";
import { answerOf, userAgent } from "../support/user-agent.ts";
import {
  anyAddress,
  firefox,
  from,
  historyOf,
  iphone,
  logOf,
  type Origin,
  originOf,
  seen,
} from "./origins.ts";

const operator = systemCaller();
let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc({
    env: {
      ...operator.env,
      IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
      IDSVC_BUDGET_GUESSES: "0",
      IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true",
    },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const nothing = { address: undefined, browser: undefined, system: undefined };

/** A whole log-in on the pages, from an address; gives the code. */
async function logIn(loginName: string, address: string, tried = password): Promise<string> {
  const agent = userAgent(peer.issuer, new Map(), from(address));
  await agent.open(authorizeUrl(peer, web));
  await agent.submit({ login_name: loginName });
  const shown = await agent.submit({ password: tried });
  return tried === password ? String(answerOf(shown).get("code")) : "";
}

describe("who was there, in the history of a real log-in (L4)", () => {
  it("is read by its owner and by administrators over them: address, browser, session, flow", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const address = anyAddress();
    await logIn(loginName, address);
    const own = await sessionTokenFor(peer.app, id);
    const viewer = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
    const manager = await peer.addMember(peer.app.made.organization_id, ["ORG_USER_MANAGER"]);
    for (const token of [own, viewer.token, manager.token, peer.app.token]) {
      const origin = originOf(
        await historyOf(peer, id, token),
        "user.human.password.check.succeeded",
      );
      assert.deepEqual(seen(origin), { address, ...firefox.families });
      assert.match(String(origin?.flow_id), /^[\w-]{32}$/);
    }
    const made = await logOf(peer, { type: "session" });
    const session = made.find((each) => each.editor.origin?.address === address)?.editor.origin;
    assert.deepEqual(seen(session), { address, ...firefox.families });
    assert.match(String(session?.session_id), /^\d+$/);
  });

  it("tells wrong passwords with their source to the owner of the account", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const address = anyAddress();
    await logIn(loginName, address, "wrong");
    const own = await sessionTokenFor(peer.app, id);
    const events = await historyOf(peer, id, own);
    const origin = originOf(events, "user.human.password.check.failed");
    assert.deepEqual(seen(origin), { address, ...firefox.families });
  });

  it("tells of tokens their family and their session", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const address = anyAddress();
    const code = await logIn(loginName, address);
    const form = { grant_type: "authorization_code", code, redirect_uri: "https://rp.test/cb" };
    const backend = anyAddress();
    const answer = await peer.send(paths.token, form, {
      ...basic(web),
      ...from(backend, "okhttp/4.12.0"),
    });
    assert.equal(answer.status, 200, answer.text);
    const events = await logOf(peer, { type: "token" });
    const of = events.find((event) => event.editor.user_id === id)?.editor.origin;
    assert.deepEqual(seen(of), { address: backend, browser: "OkHttp", system: "other" });
    const opened = originOf(await logOf(peer, { type: "oidc_session" }), "oidc_session.added");
    assert.equal(of?.token_family_id, opened?.token_family_id);
    assert.match(String(of?.session_id), /^\d+$/);
  });
});

describe("what an administrator did", () => {
  const patch = (id: string, token: string, headers: Record<string, string>) =>
    peer.patch(
      `/users/${id}`,
      { username: uniqueName("renamed").replace(" ", "") },
      { token, headers },
    );

  it("is not told with their address to the user, nor to whoever is not over them", async () => {
    const organizationId = await peer.addOrganization();
    const id = await peer.addPerson({}, organizationId);
    const admin = await addCaller(peer.app, ["IAM_OWNER"]);
    const address = anyAddress();
    bodyOf(await patch(id, admin.token, from(address, iphone.agent)));
    const own = await sessionTokenFor(peer.app, id);
    // They own the user's organization, not the administrator's.
    const owner = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const type = "user.username.changed";
    for (const token of [own, owner.token]) {
      const origin = originOf(await historyOf(peer, id, token), type);
      assert.ok(origin !== undefined);
      assert.deepEqual(seen(origin), nothing);
    }
    const home = await peer.addMember(peer.app.made.organization_id, ["ORG_OWNER"]);
    const viewer = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
    // Of the user it is not theirs to read; what the administrator did to themselves would be.
    assert.equal((await peer.post(`/users/${id}/events/_search`, undefined, home)).status, 404);
    for (const token of [viewer.token, admin.token]) {
      const origin = originOf(await historyOf(peer, id, token), type);
      assert.deepEqual(seen(origin), { address, ...iphone.families });
    }
  });

  it("is told to them themselves, whatever they hold over others", async () => {
    const organizationId = await peer.addOrganization();
    const id = await peer.addPerson({}, organizationId);
    const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    const address = anyAddress();
    bodyOf(await patch(id, manager.token, from(address)));
    const events = await historyOf(peer, id, manager.token);
    assert.deepEqual(seen(originOf(events, "user.username.changed")), {
      address,
      ...firefox.families,
    });
  });
});

describe("what those did who run the service", () => {
  it("is told with their address to them alone", async () => {
    const system = await operator.tokenFor(peer.issuer);
    const address = anyAddress();
    const { instance_id } = peer.app.made;
    const set = await peer.patch(
      `/instances/${instance_id}`,
      { name: uniqueName("instance") },
      { token: system, headers: from(address) },
    );
    bodyOf(set);
    const of = { type: "instance", id: instance_id };
    const [shown] = await logOf(peer, of, system);
    assert.equal(shown?.editor.user_id, "system:operator");
    assert.deepEqual(seen(shown?.editor.origin), { address, ...firefox.families });
    const [owners] = await logOf(peer, of);
    assert.equal(owners?.type, shown?.type);
    assert.deepEqual(seen(owners?.editor.origin), nothing);
  });
});

describe("whoever acts for somebody (RFC 8693)", () => {
  before(async () => {
    const { token } = peer.app;
    const allowed = { enable_impersonation: { set: true } };
    bodyOf(await peer.peer.rest("PATCH", "/settings/v3alpha/security", allowed, { token }));
  });

  const actAs = async (actors: string[], subject: string, address: string) => {
    type Actor = { iss: string; sub: string; act?: Actor };
    const actor = actors.reduceRight<Actor | undefined>(
      (act, sub) => ({ iss: peer.issuer, sub, ...(act && { act }) }),
      undefined,
    );
    const code = await peer.codeFor(web, subject, { actor });
    const form = { grant_type: "authorization_code", code, redirect_uri: "https://rp.test/cb" };
    const answer = await peer.send(paths.token, form, { ...basic(web), ...from(address) });
    assert.equal(answer.status, 200, answer.text);
    const events = await logOf(peer, { type: "oidc_session" });
    return events[0]?.editor.origin;
  };

  it("is named, and where they were is theirs: the user does not see it", async () => {
    const organizationId = await peer.addOrganization();
    const [subject, actor] = [await peer.addPerson({}, organizationId), await peer.addPerson()];
    const address = anyAddress();
    const origin = await actAs([actor, "somebody-else"], subject, address);
    assert.deepEqual(origin?.actor_ids, [actor, "somebody-else"]);
    assert.equal(origin?.address, address);
    // The user has no role that reads the log: an owner of their organization alone is as near as it comes.
    const owner = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const made = await peer.addMember(organizationId, ["ORG_OWNER_VIEWER"]);
    assert.equal((await peer.post("/events/_search", [], owner)).status, 403);
    assert.equal((await peer.post("/events/_search", [], made)).status, 403);
  });

  it("may be fifty: ten are told", async () => {
    const subject = await peer.addPerson();
    const actors = Array.from({ length: 50 }, (_, nth) => `actor-${nth}`);
    const origin = await actAs(actors, subject, anyAddress());
    assert.deepEqual(origin?.actor_ids, actors.slice(0, 10));
    // Nobody of that id was ever there: nothing is kept of their address.
    assert.deepEqual(seen(origin), nothing);
  });
});

describe("what a request says of itself", () => {
  const originFrom = async (headers: Record<string, string>): Promise<Origin | undefined> => {
    const id = await peer.addPerson();
    const username = uniqueName("renamed").replace(" ", "");
    bodyOf(await peer.patch(`/users/${id}`, { username }, { headers }));
    return originOf(await historyOf(peer, id), "user.username.changed");
  };

  it("is bounded: a long browser string, a name that is none, nothing at all", async () => {
    const long = `${"x".repeat(600)} Firefox/133.0`;
    assert.equal((await originFrom({ "user-agent": long }))?.browser, "other");
    assert.equal((await originFrom({ "user-agent": "<script>" }))?.browser, "other");
    const none = await originFrom({ "user-agent": "" });
    assert.deepEqual([none?.browser, none?.system], ["", ""]);
  });

  it("64 KB of it are refused before anything is done", async () => {
    const headers = { "user-agent": `Firefox/133.0 ${"x".repeat(64 * 1024)}` };
    const answer = await fetch(`${peer.issuer}/resources/v3alpha/users/_search`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${peer.app.token}` },
    });
    assert.equal(answer.status, 431);
  });

  for (const [said, kept] of [
    ["2001:db8::7", "2001:db8::7"],
    ["2001:DB8::7", "2001:db8::7"],
    ["::ffff:203.0.113.99", "203.0.113.99"],
    ["fe80::1%eth0", "fe80::1%eth0"],
    [`fe80::1%${"e".repeat(100)}`, "unknown"],
    ["999.1.1.1", "unknown"],
    ["_hidden", "unknown"],
    ["<script>alert(1)</script>", "unknown"],
    ["1".repeat(4_000), "unknown"],
  ] as const) {
    it(`an address of a proxy is kept as what it is: ${said.slice(0, 40)}`, async () => {
      assert.equal((await originFrom({ "x-forwarded-for": said }))?.address, kept);
    });
  }

  it("only what the nearest proxy says counts", async () => {
    const lied = { "x-forwarded-for": "8.8.8.8, 203.0.113.5", forwarded: "for=9.9.9.9" };
    assert.equal((await originFrom(lied))?.address, "203.0.113.5");
  });
});
