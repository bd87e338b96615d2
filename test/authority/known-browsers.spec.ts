// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createKnownBrowsers } from "../../src/resources/user/index.ts";
import { addPersonNamed, authorizeUrl, password, signedIn } from "../support/login.ts";
import { codeIn } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let sources = 0;

before(async () => {
  peer = await startOidc({
    env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1", IDSVC_BUDGET_GUESSES: "0" },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const from = () => ({ "x-forwarded-for": `203.0.113.${++sources}` });
const newBrowser = () => userAgent(peer.issuer);

/** A log-in from the beginning, whoever is logged in there. */
async function logIn(agent: UserAgent, loginName: string, tried: string): Promise<Shown> {
  const begun = await agent.open(authorizeUrl(peer, web, { prompt: "login" }));
  await agent.open(`/ui/login/loginname${begun.url.search}`);
  await agent.submit({ login_name: loginName });
  return agent.submit({ password: tried }, from());
}

function assertWrong(shown: Shown): void {
  assert.equal(shown.left, undefined);
  assert.equal(shown.status, 200);
  assert.match(shown.html, /Login name or password is wrong/);
}

/** Ten wrong passwords, each by a browser and a source of its own. */
async function guess(loginName: string): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    assertWrong(await logIn(newBrowser(), loginName, "wrong"));
  }
}

const bySession = (user_id: string, tried: string) =>
  peer.post("/sessions", { checks: { user: { user_id }, password: { password: tried } } });
const throttlingOf = async (id: string) => bodyOf(await peer.get(`/users/${id}`)).user.throttling;

describe("D83: wrong passwords of strangers (J12, L8)", () => {
  it("do not keep the owner out of a browser in which they logged in before, and close all others", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const known = await signedIn(peer, web, loginName);
    await guess(loginName);
    assert.ok((await throttlingOf(id)).passwords_until);
    assertWrong(await logIn(newBrowser(), loginName, password));
    assertRefused((await bySession(id, password)).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
    });
    codeIn(await logIn(known, loginName, password));
    // What is right in a known browser forgives no stranger.
    assertWrong(await logIn(newBrowser(), loginName, password));
    peer.pass(601_000);
    codeIn(await logIn(newBrowser(), loginName, password));
    assert.equal(await throttlingOf(id), undefined);
  });

  it("so too when the owner logged out of it, days ago", async () => {
    const { loginName } = await addPersonNamed(peer);
    const known = await signedIn(peer, web, loginName);
    await known.open("/ui/login/logout");
    await known.submit({});
    peer.pass(3 * 24 * 3_600_000);
    await guess(loginName);
    codeIn(await logIn(known, loginName, password));
  });

  it("and in a browser of somebody else they count as those of every stranger", async () => {
    const owner = await addPersonNamed(peer);
    const other = await addPersonNamed(peer);
    const known = await signedIn(peer, web, other.loginName);
    for (let count = 0; count < 10; count += 1) {
      assertWrong(await logIn(known, owner.loginName, "wrong"));
    }
    assertWrong(await logIn(newBrowser(), owner.loginName, password));
    assert.ok((await throttlingOf(owner.id)).passwords_until);
  });
});

describe("wrong passwords in a known browser", () => {
  it("close it as they close the unknown ones, and no other; _unlock opens it", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const [known, second] = [
      await signedIn(peer, web, loginName),
      await signedIn(peer, web, loginName),
    ];
    for (let count = 0; count < 10; count += 1) {
      assertWrong(await logIn(known, loginName, "wrong"));
    }
    assertWrong(await logIn(known, loginName, password));
    codeIn(await logIn(second, loginName, password));
    assert.equal(await throttlingOf(id), undefined);
    peer.pass(601_000);
    // One more, and it is closed for twice as long.
    assertWrong(await logIn(known, loginName, "wrong"));
    peer.pass(601_000);
    assertWrong(await logIn(known, loginName, password));
    await guess(loginName);
    bodyOf(await peer.post(`/users/${id}/_unlock`));
    codeIn(await logIn(known, loginName, password));
    codeIn(await logIn(newBrowser(), loginName, password));
  });

  it("a cookie that nobody has given out makes none known", async () => {
    const { loginName } = await addPersonNamed(peer);
    const known = await signedIn(peer, web, loginName);
    await guess(loginName);
    const name = [...known.cookies.keys()].find((one) => one.endsWith("idsvc-browser")) ?? "";
    const value = known.cookies.get(name) ?? "";
    assert.match(value, /^[\w-]{43}$/);
    const forged = userAgent(peer.issuer, new Map([[name, "A".repeat(43)]]));
    assertWrong(await logIn(forged, loginName, password));
    codeIn(await logIn(known, loginName, password));
    // The cookie from before the log-in is dead.
    const stolen = userAgent(peer.issuer, new Map([[name, value]]));
    assertWrong(await logIn(stolen, loginName, password));
  });
});

describe("known browsers of a person", () => {
  it("are twenty at most, those of last", async () => {
    const id = await peer.addPerson();
    const browsers = createKnownBrowsers(peer.deps);
    const at = { ...peer.at, requestId: "r", editorId: id, service: "login", clientId: "" };
    for (let count = 0; count < 22; count += 1) {
      await browsers.remember({ ...at, browser: `browser-${count}` }, id);
      peer.pass(1_000);
    }
    const isKnown = async (count: number) =>
      (await browsers.find({ ...at, browser: `browser-${count}` }, id)) !== undefined;
    assert.deepEqual(await Promise.all([0, 1, 2, 21].map(isKnown)), [false, false, true, true]);
    assert.equal(await browsers.find({ ...at, browser: "browser-21" }, "nobody"), undefined);
    peer.pass(366 * 24 * 3_600_000);
    assert.equal(await isKnown(21), false);
  });
});
