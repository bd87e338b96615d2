// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import { SignJWT, UnsecuredJWT, decodeJwt, generateKeyPair } from "jose";
import { errorOf, type Shown, type UserAgent } from "../support/user-agent.ts";
import { assertErrorAnswer, type Conformance, longState, startConformance } from "./conformance.ts";

const bye = "https://rp.test/bye";
let suite: Conformance;

before(async () => {
  suite = await startConformance({ responseType: "code", isFormPost: false });
});
after(() => suite[Symbol.asyncDispose]());

/** A browser that has logged in, and the ID token of it. */
async function loggedIn(): Promise<{ browser: UserAgent; hint: string }> {
  const browser = suite.agent();
  const { idToken: hint } = await suite.logIn(browser);
  return { browser, hint };
}

const endAt = (browser: UserAgent, more: Record<string, string>): Promise<Shown> =>
  browser.open(`${suite.peer.issuer}/oidc/v1/end_session?${new URLSearchParams(more)}`);

async function assertLoggedOut(browser: UserAgent): Promise<void> {
  const answer = suite.told(await suite.ask(browser, { prompt: "none" }));
  assertErrorAnswer(answer, "login_required");
}

/** No redirect: a page of ours, which asks or tells. */
function assertPage({ left, status, url }: Shown): void {
  assert.equal(left, undefined);
  assert.equal(status, 200);
  assert.match(url.pathname, /^\/ui\/login\/logout(\/done)?$/);
}

describe("the certification profile RP-Initiated Logout", () => {
  it("oidcc-rp-initiated-logout-discovery-endpoint-verification: the address is told", async () => {
    const issuer = new URL(suite.peer.issuer);
    // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: the service under test has no TLS.
    const insecure = { [oauth.allowInsecureRequests]: true };
    const answer = await oauth.discoveryRequest(issuer, insecure);
    const { end_session_endpoint: address } = await oauth.processDiscoveryResponse(issuer, answer);
    assert.equal(address, `${suite.peer.issuer}/oidc/v1/end_session`);
  });

  it("oidcc-rp-initiated-logout: back to the URI with the very state, and then nobody is logged in", async () => {
    const { browser, hint } = await loggedIn();
    const asked = { id_token_hint: hint, post_logout_redirect_uri: bye, state: longState };
    assert.equal(String((await endAt(browser, asked)).left), `${bye}?state=${longState}`);
    await assertLoggedOut(browser);
  });

  it("oidcc-rp-initiated-logout-no-state: back to the URI without one", async () => {
    const { browser, hint } = await loggedIn();
    const asked = { id_token_hint: hint, post_logout_redirect_uri: bye };
    assert.equal(String((await endAt(browser, asked)).left), bye);
    await assertLoggedOut(browser);
  });

  for (const [module, uri] of [
    ["oidcc-rp-initiated-logout-bad-post-logout-redirect-uri", `${bye}/x7Dm2`],
    ["oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri", `${bye}?x=1`],
  ] as const) {
    it(`${module}: no redirect, a page that says why`, async () => {
      const { browser, hint } = await loggedIn();
      const asked = { id_token_hint: hint, post_logout_redirect_uri: uri, state: longState };
      const shown = await endAt(browser, asked);
      assert.equal(shown.left, undefined);
      assert.equal(errorOf(shown), "REDIRECT_URI_INVALID");
      await assertLoggedOut(browser);
    });
  }

  it("oidcc-rp-initiated-logout-modified-id-token-hint: without a signature it proves nothing", async () => {
    const { browser, hint } = await loggedIn();
    const unsigned = new UnsecuredJWT(decodeJwt(hint)).encode();
    const asked = { id_token_hint: unsigned, post_logout_redirect_uri: bye, state: longState };
    assertPage(await endAt(browser, asked));
  });

  it("oidcc-rp-initiated-logout-bad-id-token-hint: signed by somebody else it proves nothing", async () => {
    const { browser, hint } = await loggedIn();
    const { privateKey } = await generateKeyPair("RS256");
    const header = { alg: "RS256", kid: "theirs" };
    const forged = await new SignJWT(decodeJwt(hint)).setProtectedHeader(header).sign(privateKey);
    const asked = { id_token_hint: forged, post_logout_redirect_uri: bye, state: longState };
    assertPage(await endAt(browser, asked));
  });

  it("oidcc-rp-initiated-logout-no-id-token-hint: a URI alone is no reason to redirect", async () => {
    const { browser } = await loggedIn();
    assertPage(await endAt(browser, { post_logout_redirect_uri: bye, state: longState }));
  });

  for (const [module, asked] of [
    ["oidcc-rp-initiated-logout-no-params", {}],
    ["oidcc-rp-initiated-logout-only-state", { state: longState }],
  ] as const) {
    it(`${module}: the user is asked, logged out, and told so`, async () => {
      const { browser } = await loggedIn();
      assertPage(await endAt(browser, asked));
      const done = await browser.submit({});
      assertPage(done);
      assert.match(done.html, /You are signed out/);
      await assertLoggedOut(browser);
    });
  }

  it("oidcc-rp-initiated-logout-no-post-logout-redirect-uri: logged out at once, and told so", async () => {
    const { browser, hint } = await loggedIn();
    const done = await endAt(browser, { id_token_hint: hint, state: longState });
    assertPage(done);
    assert.match(done.html, /You are signed out/);
    await assertLoggedOut(browser);
  });
});
