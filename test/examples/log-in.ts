import { createServer, type ServerResponse } from "node:http";
import * as oidc from "openid-client";

// An app that people log in to: http://localhost:3000 sends the browser to idsvc, and shows what came of it. docs/use.md
// ("Log in") says how to register and start it.

const { CLIENT_ID = "", ISSUER = "http://localhost:8080", PORT = "3000" } = process.env;
const apiScope = "urn:idsvc:iam:org:project:id:idsvc:aud";
const home = `http://localhost:${PORT}/`;

const idsvc = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.None(), {
  // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: this one runs on your own machine only.
  execute: ISSUER.startsWith("http:") ? [oidc.allowInsecureRequests] : [],
});

// What each login that is under way has to prove, under its state. A real app keeps this in a cookie of the browser.
const underWay = new Map<string, { verifier: string; nonce: string }>();

async function logIn(response: ServerResponse): Promise<void> {
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
  const verifier = oidc.randomPKCECodeVerifier();
  underWay.set(state, { verifier, nonce });
  const url = oidc.buildAuthorizationUrl(idsvc, {
    redirect_uri: `${home}cb`,
    // The last one is for the API of idsvc itself: its user is asked how far the app may act for them there.
    scope: `openid profile email ${apiScope}`,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
  });
  response.writeHead(302, { location: url.href }).end();
}

async function loggedIn(url: URL, response: ServerResponse): Promise<void> {
  const state = url.searchParams.get("state") ?? "";
  const login = underWay.get(state);
  underWay.delete(state);
  if (login === undefined) return show(response, { problem: "This login was not begun here." });
  const tokens = await oidc.authorizationCodeGrant(idsvc, url, {
    expectedState: state,
    expectedNonce: login.nonce,
    pkceCodeVerifier: login.verifier,
  });
  const claims = tokens.claims();
  const { access_token: token, id_token: hint = "" } = tokens;
  const who = claims?.sub ?? "";
  const userinfo = await oidc.fetchUserInfo(idsvc, token, who);
  // What was not given is left out of the scope: a token without the API opens nothing there.
  const scope = tokens.scope ?? "";
  const api = scope.includes(apiScope)
    ? await readUser(token, who)
    : { problem: `the API was not given to this app: its scope is ${scope}` };
  const logout = oidc.buildEndSessionUrl(idsvc, {
    id_token_hint: hint,
    post_logout_redirect_uri: home,
  });
  show(response, { scope, tokens, claims, userinfo, api }, logout.href);
}

/** The user's token opens the API as far as they allowed: here they read themselves. */
async function readUser(token: string, id: string): Promise<unknown> {
  const answer = await fetch(`${ISSUER}/resources/v3alpha/users/${id}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return answer.json();
}

function show(response: ServerResponse, told: Record<string, unknown>, logout?: string): void {
  const text = (value: unknown) =>
    (JSON.stringify(value, undefined, 2) ?? "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const parts = Object.entries(told).map(
    ([name, value]) => `<h2>${name}</h2><pre id="${name}">${text(value)}</pre>`,
  );
  const link =
    logout === undefined ? `<a href="/login">Log in</a>` : `<a href="${logout}">Log out</a>`;
  response
    .writeHead(200, { "content-type": "text/html; charset=utf-8" })
    .end(`<!doctype html><title>Example</title><h1>Example</h1><p>${link}</p>${parts.join("")}`);
}

createServer((request, response) => {
  const url = new URL(request.url ?? "/", home);
  const answer = async () => {
    if (url.pathname === "/login") await logIn(response);
    else if (url.pathname === "/cb") await loggedIn(url, response);
    else if (url.pathname === "/") show(response, {});
    else response.writeHead(404).end();
  };
  // Whatever idsvc or its user refuse ends here: shown, and not fatal.
  answer().catch((error: unknown) => show(response, { problem: String(error) }));
}).listen(Number(PORT), "localhost", () => console.log(`open ${home}`));
