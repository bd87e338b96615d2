import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";

type Claims = Record<string, unknown>;

/** What the provider does otherwise than a good one. */
export type Script = {
  /** Who logs in: claims of userinfo and of the ID token. */
  user: Claims & { sub: string };
  /** What stands in the ID token in the place of what belongs there; undefined leaves a claim out. */
  idToken: Claims;
  /** Signs with a key that it does not publish, under the name of one that it does or its own; or not at all. */
  signature: "good" | "foreign" | "unknown" | "none";
  /** Answers the browser with this error. */
  error: string | undefined;
  /** Further parameters of its answer to the browser. */
  answer: Record<string, string>;
  /** Answers nothing, or nothing at this path, or after this time. */
  isDown: boolean | string;
  delayMs: number;
  cacheControl: string | undefined;
  /** Further headers of its documents. */
  headers: Record<string, string>;
  /** What its discovery document says otherwise. */
  discovery: Claims;
  /** It tells which addresses are verified. */
  tellsEmails: boolean;
  /** Judges what a client proves itself with in the place of its secret. */
  isClient: ((secret: string) => Promise<boolean>) | undefined;
};

export type FakeProvider = AsyncDisposable & {
  issuer: string;
  clientId: string;
  secret: string;
  script: Script;
  /** How often each path was asked. */
  hits: Map<string, number>;
  /** The requests of browsers, newest last. */
  asked: URLSearchParams[];
  /** Back to a good provider with another user. */
  reset(user?: Claims): void;
  /** Signs with another key from now on, which it publishes. */
  rotate(): Promise<void>;
  /** A token that it signs. */
  sign(claims: Claims): Promise<string>;
};

type Granted = { nonce: string | null; challenge: string | null; redirectUri: string };

let users = 0;
const newUser = (): Script["user"] => {
  const name = `mona-${users++}`;
  return {
    sub: `subject-${name}`,
    preferred_username: name,
    email: `${name}@provider.test`,
    email_verified: true,
    given_name: "Mona",
    family_name: "Lisa",
    name: "Mona Lisa",
    locale: "en",
  };
};

const good = () => ({
  user: newUser(),
  idToken: {},
  signature: "good" as const,
  error: undefined,
  answer: {},
  isDown: false,
  delayMs: 0,
  cacheControl: undefined,
  headers: {},
  discovery: {},
  tellsEmails: true,
  isClient: undefined,
});

/**
 * A provider of OpenID Connect and of OAuth, whose users log in without being asked. In the background it does not keep
 * its process from ending.
 */
export async function startFakeProvider({ isInBackground = false } = {}): Promise<FakeProvider> {
  const granted = new Map<string, Granted>();
  const tokens = new Set<string>();
  const makeKey = async () => ({
    kid: randomBytes(6).toString("hex"),
    ...(await generateKeyPair("RS256")),
  });
  let key = await makeKey();
  const foreign = await makeKey();

  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  if (isInBackground) server.unref();
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;

  const provider: FakeProvider = {
    issuer,
    clientId: "the service:1",
    secret: `secret ${randomBytes(8).toString("hex")} %+:`,
    script: good(),
    hits: new Map(),
    asked: [],
    reset(user) {
      provider.script = {
        ...good(),
        ...(user === undefined ? {} : { user: { ...newUser(), ...user } }),
      };
      provider.hits.clear();
    },
    async rotate() {
      key = await makeKey();
    },
    sign: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: key.kid }).sign(key.privateKey),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function idToken({ nonce }: Granted): Promise<string> {
    const { user, idToken: other, signature } = provider.script;
    const now = Math.floor(Date.now() / 1_000);
    const all = {
      ...user,
      iss: issuer,
      aud: provider.clientId,
      iat: now,
      exp: now + 300,
      auth_time: now,
      ...(nonce === null ? {} : { nonce }),
      ...other,
    };
    const claims = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    );
    if (signature === "none") return new UnsecuredJWT(claims).encode();
    const keys = { good: key, unknown: foreign, foreign: { ...foreign, kid: key.kid } };
    const { kid, privateKey } = keys[signature];
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    provider.asked.push(query);
    const { error, answer } = provider.script;
    const redirectUri = query.get("redirect_uri") ?? "";
    const url = new URL(redirectUri);
    url.searchParams.set("state", query.get("state") ?? "");
    if (error === undefined) {
      const code = randomBytes(16).toString("hex");
      const [nonce, challenge] = [query.get("nonce"), query.get("code_challenge")];
      granted.set(code, { nonce, challenge, redirectUri });
      url.searchParams.set("code", code);
    } else url.searchParams.set("error", error);
    for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
    response.writeHead(302, { location: url.href }).end();
  }

  async function token(request: IncomingMessage): Promise<[status: number, body: Claims]> {
    const form = new URLSearchParams(await text(request));
    const grant = granted.get(form.get("code") ?? "");
    granted.delete(form.get("code") ?? "");
    const { clientId, secret } = provider;
    const encode = (value: string) => new URLSearchParams({ v: value }).toString().slice(2);
    const basic = Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64");
    const judge = provider.script.isClient;
    const isClient =
      judge === undefined
        ? request.headers.authorization === `Basic ${basic}` ||
          (form.get("client_id") === clientId && form.get("client_secret") === secret)
        : await judge(form.get("client_secret") ?? "");
    if (!isClient) return [401, { error: "invalid_client" }];
    const hash = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isProven = grant?.challenge === null || grant?.challenge === hash;
    if (grant === undefined || !isProven || grant.redirectUri !== form.get("redirect_uri")) {
      return [400, { error: "invalid_grant" }];
    }
    const accessToken = randomBytes(16).toString("hex");
    tokens.add(accessToken);
    const body = { access_token: accessToken, token_type: "Bearer", expires_in: 300 };
    return [200, { ...body, id_token: await idToken(grant) }];
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    provider.hits.set(pathname, (provider.hits.get(pathname) ?? 0) + 1);
    const { script } = provider;
    if (script.isDown === true || script.isDown === pathname) {
      return void request.socket.destroy();
    }
    if (script.delayMs > 0) await delay(script.delayMs, undefined, { ref: false });
    const tell = (body: unknown, status = 200) =>
      response
        .writeHead(status, {
          "content-type": "application/json",
          ...script.headers,
          ...(script.cacheControl === undefined ? {} : { "cache-control": script.cacheControl }),
        })
        .end(JSON.stringify(body));
    const bearer = (request.headers.authorization ?? "").replace("Bearer ", "");
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return void tell({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          ...script.discovery,
        });
      case "/jwks":
        return void tell({
          keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: "RS256", use: "sig" }],
        });
      case "/authorize":
      case "/login/oauth/authorize":
      case "/a-tenant/oauth2/v2.0/authorize":
        return authorize(searchParams, response);
      case "/token":
      case "/login/oauth/access_token":
      case "/a-tenant/oauth2/v2.0/token": {
        const [status, body] = await token(request);
        return void tell(body, status);
      }
      case "/userinfo":
      case "/user":
        if (!tokens.has(bearer)) return void tell({ error: "invalid_token" }, 401);
        return void tell({
          ...script.user,
          id: script.user.sub,
          login: script.user["preferred_username"],
        });
      case "/v1.0/me":
        if (!tokens.has(bearer)) return void tell({ error: "invalid_token" }, 401);
        return void tell({
          id: script.user.sub,
          userPrincipalName: script.user["preferred_username"],
          mail: script.user["email"],
          givenName: script.user["given_name"],
          surname: script.user["family_name"],
          displayName: script.user["name"],
        });
      case "/user/emails":
        if (!script.tellsEmails) return void tell({ error: "insufficient_scope" }, 403);
        return void tell([
          { email: script.user["email"], primary: true, verified: script.user["email_verified"] },
        ]);
      default:
        return void tell({ error: "not_found" }, 404);
    }
  }
  return provider;
}
