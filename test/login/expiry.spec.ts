// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, password, signedIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { errorOf, type UserAgent, userAgent } from "../support/user-agent.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

/** Whether the service knows the browser by its cookie: one that it does not know gets another. */
async function isKnown(agent: UserAgent): Promise<boolean> {
  const earlier = new Map(agent.cookies);
  const same = userAgent(peer.issuer, new Map(earlier));
  await same.open("/ui/login");
  return [...same.cookies].every(([name, value]) => earlier.get(name) === value);
}

describe("a flow of the login", () => {
  it("that is stored ends after an hour, whatever is entered", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, web));
    await agent.submit({ login_name: loginName });
    peer.pass(hourMs - 60_000);
    await agent.open(agent.last.url);
    assert.equal(agent.last.status, 200);
    peer.pass(60_000);
    const late = await agent.submit({ password });
    assert.equal(late.status, 400);
    assert.equal(errorOf(late), "FLOW_NOT_FOUND");
  });

  it("that only its address holds ends after an hour", async () => {
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, web));
    const { url } = agent.last;
    peer.pass(hourMs);
    const late = await agent.open(url);
    assert.equal(late.status, 400);
    assert.equal(errorOf(late), "FLOW_NOT_FOUND");
  });
});

describe("the cookie of a browser", () => {
  it("in which nobody has logged in ends after a day", async () => {
    const agent = userAgent(peer.issuer);
    await agent.open("/ui/login");
    peer.pass(dayMs - hourMs);
    assert.ok(await isKnown(agent));
    peer.pass(hourMs + 60_000);
    assert.equal(await isKnown(agent), false);
  });

  it("in which somebody has logged in ends after a year", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    peer.pass(364 * dayMs);
    assert.ok(await isKnown(agent));
    peer.pass(dayMs);
    assert.equal(await isKnown(agent), false);
  });
});
