// Run: shared, browser
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { freePort } from "../support/free-port.ts";
import { startTlsProxy } from "../support/tls-proxy.ts";
import { type Journeys, startJourneys } from "./journey.ts";

let journeys: Journeys;
let proxy: AsyncDisposable;
let origin: string;

before(async () => {
  const port = await freePort();
  origin = `https://localhost:${port}`;
  journeys = await startJourneys({
    origin,
    options: {
      env: {
        IDSVC_EXTERNAL_URL: origin,
        IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
      },
    },
  });
  proxy = await startTlsProxy(port, journeys.peer.app.port);
});
after(async () => {
  await proxy[Symbol.asyncDispose]();
  await journeys[Symbol.asyncDispose]();
});

const redirectUri = () => `${journeys.app.origin}/cb`;
const overTls = (more = {}) =>
  authorizeUrl({ issuer: origin }, journeys.app.client, { redirect_uri: redirectUri(), ...more });

describe("the login under TLS, behind a proxy", () => {
  it("D58: its cookie is of this host alone, Secure, HttpOnly and Lax, and another after the login", async () => {
    const alice = await addPersonNamed(journeys.peer);
    await using journey = await journeys.begin({ from: overTls(), ignoreHTTPSErrors: true });
    const { page } = journey;
    const held = async () => {
      const all = await page.context().cookies(origin);
      assert.deepEqual(
        all.map(({ name }) => name),
        ["__Host-idsvc-browser"],
      );
      const [{ value, httpOnly, secure, sameSite, domain, path } = { value: "" }] = all;
      assert.deepEqual(
        { httpOnly, secure, sameSite, domain, path },
        { httpOnly: true, secure: true, sameSite: "Lax", domain: "localhost", path: "/" },
      );
      return value;
    };
    const planted = await held();
    await journey.signIn(alice.loginName);
    // The app is reached without TLS: the policy of the pages does not lead its address astray.
    await page.waitForURL((url) => url.origin === journeys.app.origin);
    assert.notEqual(await held(), planted);
    assert.match(page.url(), /[?&]code=idsvc_ac_/);
    assert.equal(new URL(page.url()).searchParams.get("iss"), origin);
  });

  it("D78: HSTS, and no page without the headers that protect it, errors included", async () => {
    await using journey = await journeys.begin({ from: overTls(), ignoreHTTPSErrors: true });
    const { page } = journey;
    for (const [url, status, policy] of [
      [overTls(), 200, /form-action 'self' http:\/\/localhost:\d+;/],
      [`${origin}/ui/login/logout/done`, 200, /upgrade-insecure-requests/],
      [`${origin}/device`, 200, /upgrade-insecure-requests/],
      [`${origin}/ui/login/register`, 200, /upgrade-insecure-requests/],
      [`${origin}/ui/dev/mail`, 200, /upgrade-insecure-requests/],
      [overTls({ redirect_uri: "https://evil.test/cb" }), 400, /form-action 'self';/],
      [overTls({ client_id: "nobody" }), 400, /form-action 'self';/],
      [`${origin}/ui/login/password?flow=gone`, 400, /form-action 'self';/],
      [`${origin}/ui/login/nothing`, 404, /form-action 'self';/],
      [overTls({ response_mode: "form_post", scope: "x" }), 200, /form-action 'self' http:/],
    ] as const) {
      const scripts = await page.context().newPage();
      const answer = await scripts.goto(url, { waitUntil: "commit" });
      const headers = answer?.headers() ?? {};
      assert.equal(answer?.status(), status, url);
      assert.partialDeepStrictEqual(
        headers,
        {
          "strict-transport-security": "max-age=31536000",
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "cache-control": "no-store",
          "content-type": "text/html; charset=utf-8",
          "cross-origin-opener-policy": "same-origin",
        },
        url,
      );
      const csp = headers["content-security-policy"] ?? "";
      assert.match(csp, policy, url);
      assert.match(csp, /^default-src 'none'; /, url);
      assert.match(csp, /frame-ancestors 'none'; base-uri 'none'/, url);
      assert.doesNotMatch(csp, /unsafe/, url);
      assert.match(headers["referrer-policy"] ?? "", /^(same-origin|no-referrer)$/, url);
      await scripts.close();
    }
  });
});
