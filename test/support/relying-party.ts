import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@bufbuild/protobuf";
import * as oidc from "openid-client";
import { type MadeClient, type OidcPeer, relyingParty } from "./oidc.ts";

/** What an app knows after a login: as whom, or why not. */
export type Told = {
  error?: string;
  claims?: oidc.IDToken;
  tokens?: oidc.TokenEndpointResponse;
  userinfo?: oidc.UserInfoResponse;
  /** How the answer came. */
  method: string;
};

/** An app on a port of its own, which does what apps do, with openid-client. */
export type RelyingParty = AsyncDisposable & {
  origin: string;
  client: MadeClient;
  /** An address that sends the browser to the login, with these parameters of the request. */
  login(more?: Record<string, string>): string;
  /** What came of each login, the last one last. */
  told: Told[];
  last(): Told;
};

/** Registers an app in development mode (its address is of this machine) and runs it. */
export async function startRelyingParty(
  peer: OidcPeer,
  config: JsonObject = {},
  app: JsonObject = {},
): Promise<RelyingParty> {
  const waiting = new Map<string, { verifier: string; nonce: string }>();
  const told: Told[] = [];
  const server = createServer((request, response) => {
    const show = (content: string) =>
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,">
<body><h1>${content}</h1></body></html>`);
    const url = new URL(request.url ?? "/", origin);
    const answers: Record<string, () => Promise<unknown>> = {
      "/": async () => show("Welcome"),
      "/bye": async () => show("Goodbye"),
      "/login": async () =>
        response.writeHead(302, { location: String(await begin(url.searchParams)) }).end(),
      "/cb": async () => {
        const outcome = await finish(request, url);
        told.push(outcome);
        show(outcome.error === undefined ? "Logged in" : "Not logged in");
      },
    };
    const answer = answers[url.pathname];
    if (answer === undefined) response.writeHead(404).end();
    else answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const client = await peer.addClient(
    {
      redirect_uris: [`${origin}/cb`],
      post_logout_redirect_uris: [`${origin}/bye`],
      dev_mode: true,
      ...config,
    },
    app,
  );
  let found: Promise<oidc.Configuration> | undefined;
  const known = () =>
    (found ??= relyingParty(
      peer,
      client.clientId,
      client.secret === "" ? oidc.None() : oidc.ClientSecretBasic(client.secret),
    ));

  async function begin(more: URLSearchParams): Promise<URL> {
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const verifier = oidc.randomPKCECodeVerifier();
    waiting.set(state, { verifier, nonce });
    return oidc.buildAuthorizationUrl(await known(), {
      redirect_uri: `${origin}/cb`,
      scope: "openid",
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
      ...Object.fromEntries(more),
    });
  }

  async function finish(request: IncomingMessage, url: URL): Promise<Told> {
    const { method = "GET" } = request;
    const body = await text(request);
    const answer = new URL(url);
    if (method === "POST") answer.search = body;
    const state = answer.searchParams.get("state") ?? "";
    const { verifier = "", nonce } = waiting.get(state) ?? {};
    waiting.delete(state);
    try {
      const checks = {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
      };
      const tokens = await oidc.authorizationCodeGrant(await known(), answer, checks as never);
      const claims = tokens.claims();
      assert.ok(claims !== undefined);
      const userinfo = await oidc.fetchUserInfo(await known(), tokens.access_token, claims.sub);
      return { method, tokens, claims, userinfo };
    } catch (error) {
      if (error instanceof oidc.AuthorizationResponseError) return { method, error: error.error };
      throw error;
    }
  }

  return {
    origin,
    client,
    told,
    login: (more = {}) => `${origin}/login?${new URLSearchParams(more)}`,
    last() {
      const last = told.at(-1);
      assert.ok(last !== undefined, "nobody came back to the app");
      return last;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
