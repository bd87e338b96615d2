import { hash } from "node:crypto";
import { counterMark, type LoadSpec } from "./load/spec.ts";

export type Credentials = { clientId: string; secret: string };

const secret = "a-secret-of-forty-three-characters-it-shall";
const client = (clientId: string): Credentials => ({ clientId, secret });

/** The clients of the peer. */
export const peerClients = {
  web: client("web"),
  opaque: client("opaque"),
  rs256: client("rs256"),
  es256: client("es256"),
};

export const redirectUri = "https://rp.test/cb";
const verifier = "a-verifier-of-forty-three-characters-it-is.";
export const sentChallenge = hash("sha256", verifier, "base64url");

/** What the peer tells of its user; the service has one with the same. */
export const person = {
  sub: "ada",
  name: "Ada Lovelace",
  given_name: "Ada",
  family_name: "Lovelace",
  preferred_username: "ada",
  email: "ada@example.com",
  email_verified: true,
  updated_at: 1_793_000_000,
};

export const servicePaths = {
  discovery: "/.well-known/openid-configuration",
  keys: "/oauth/v2/keys",
  authorize: "/oauth/v2/authorize",
  token: "/oauth/v2/token",
  introspection: "/oauth/v2/introspect",
  userinfo: "/oidc/v1/userinfo",
};
export type Paths = typeof servicePaths;
export const peerPaths: Paths = {
  discovery: "/.well-known/openid-configuration",
  keys: "/jwks",
  authorize: "/auth",
  token: "/token",
  introspection: "/token/introspection",
  userinfo: "/me",
};

const formType = { "content-type": "application/x-www-form-urlencoded" };
const connections = 64;

const http1 = (port: number): Omit<LoadSpec, "method" | "path" | "headers" | "body"> => ({
  protocol: "http1",
  port,
  counted: false,
  connections,
  streams: 1,
});

export const getSpec = (
  port: number,
  path: string,
  headers: Record<string, string> = {},
): LoadSpec => ({ ...http1(port), method: "GET", path, headers, body: "" });

// None of the ids and secrets here holds a character that the form encoding would change.
const basic = ({ clientId, secret: shared }: Credentials) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${shared}`).toString("base64")}`,
});

export function formSpec(
  port: number,
  path: string,
  by: Credentials,
  form: Record<string, string>,
): LoadSpec {
  const encoded = String(new URLSearchParams(form)).replaceAll(
    encodeURIComponent(counterMark),
    counterMark,
  );
  const headers = { ...formType, ...basic(by) };
  const body = Buffer.from(encoded).toString("base64");
  return { ...http1(port), method: "POST", path, headers, body };
}

export const codeForm = (code: string) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
});

export const refreshForm = (token: string) => ({
  grant_type: "refresh_token",
  refresh_token: token,
});

export const authorizePath = (path: string, clientId: string): string => {
  const asked = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    state: "a-state",
    nonce: "a-nonce",
    code_challenge: sentChallenge,
    code_challenge_method: "S256",
  };
  return `${path}?${new URLSearchParams(asked)}`;
};
