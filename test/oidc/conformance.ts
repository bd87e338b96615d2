import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  createLocalJWKSet,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from "jose";
import { authorizeUrl, signIn } from "../support/login.ts";
import {
  type Answer,
  basic,
  type Body,
  type MadeClient,
  type OidcPeer,
  paths,
  read,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { formOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";

/** What a plan of the certification runs its modules with. */
export type Profile = {
  responseType: "code" | "id_token" | "id_token token";
  isFormPost: boolean;
};

/** What a login gave the app, by whatever way. */
export type Given = {
  parameters: URLSearchParams;
  idToken: string;
  /** Nothing for `id_token` alone. */
  accessToken: string | undefined;
  /** The answer of the token endpoint, for `code`. */
  tokens: Body;
};

/** The service, two clients, and a user who has every claim there is, as the certification asks for. */
export type Conformance = AsyncDisposable & {
  peer: OidcPeer;
  profile: Profile;
  client: MadeClient;
  second: MadeClient;
  user: { id: string; loginName: string };
  agent(): UserAgent;
  /** Sends an authorization request of the profile; gives what the browser shows. */
  ask(agent: UserAgent, more?: Parameters, client?: MadeClient): Promise<Shown>;
  /** What the app is told; the way that it came is that of the profile, or as said. */
  told(shown: Shown, way?: "query"): URLSearchParams;
  /** A whole login: the request, name and password if they are asked for, and what comes of it. */
  logIn(agent: UserAgent, more?: Parameters, client?: MadeClient): Promise<Given>;
  /** The same where no page may be shown. */
  silently(agent: UserAgent, more?: Parameters): Promise<Given>;
  redeem(code: string, client?: MadeClient, more?: Record<string, string>): Promise<Answer>;
  /** What the suite asks of an ID token; gives the claims. */
  verified(given: Given, client?: MadeClient): Promise<JWTPayload>;
};

type Parameters = Record<string, string | undefined>;

export const nonce = "n-0S6_WzA2Mj";
export const longState = "s".repeat(128);

const types: Record<Profile["responseType"], string> = {
  code: "OIDC_RESPONSE_TYPE_CODE",
  id_token: "OIDC_RESPONSE_TYPE_ID_TOKEN",
  "id_token token": "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN",
};

/** Claims that may always stand in an ID token (point 12). */
const ofTheProtocol = new Set([
  "iss",
  "sub",
  "aud",
  "exp",
  "iat",
  "auth_time",
  "nonce",
  "acr",
  "amr",
  "azp",
  "at_hash",
  "c_hash",
  "s_hash",
  "nbf",
  "jti",
  "sid",
]);

export const address = {
  formatted: "1 Main St, London",
  street_address: "1 Main St",
  locality: "London",
  region: "London",
  postal_code: "N1 9GU",
  country: "UK",
};

export async function startConformance(profile: Profile): Promise<Conformance> {
  const peer = await startOidc();
  const { responseType, isFormPost } = profile;
  const config = {
    response_types: [types[responseType]],
    grant_types: [
      "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
      "OIDC_GRANT_TYPE_REFRESH_TOKEN",
      "OIDC_GRANT_TYPE_IMPLICIT",
    ],
    post_logout_redirect_uris: ["https://rp.test/bye"],
  };
  const client = await peer.addClient(config);
  const second = await peer.addClient(config);
  const id = await peer.addPerson({
    username: "grace",
    data: {
      given_name: "Grace",
      family_name: "Hopper",
      middle_name: "Brewster",
      nickname: "Amazing",
      display_name: "Grace Hopper",
      preferred_language: "en",
      gender: "female",
      birthdate: "1906-12-09",
      zoneinfo: "America/New_York",
      picture: "https://rp.test/p.png",
      website: "https://rp.test/",
      profile: "https://rp.test/grace",
      address,
    },
    contact: {
      email: { address: "grace@rp.test", is_verified: true },
      phone: { number: "+441632960001", is_verified: true },
    },
  });
  const { user: found } = bodyOf(await peer.get(`/users/${id}`));
  const user = { id, loginName: String(found.user.login_names[0]) };

  const ask: Conformance["ask"] = (agent, more = {}, from = client) =>
    agent.open(
      authorizeUrl(peer, from, {
        response_type: responseType,
        response_mode: isFormPost ? "form_post" : undefined,
        nonce,
        state: longState,
        ...more,
      }),
    );

  function told({ left, html, status }: Shown, way?: "query"): URLSearchParams {
    if (isFormPost) {
      assert.equal(left, undefined, "nothing may stand in an address");
      assert.equal(status, 200, html);
      const { action, fields } = formOf(html);
      assert.equal(action, redirectUri);
      return new URLSearchParams(fields);
    }
    assert.ok(left !== undefined, html.slice(0, 1_500));
    assert.equal(`${left.origin}${left.pathname}`, redirectUri);
    const inQuery = responseType === "code" || way === "query";
    assert.equal(inQuery ? left.hash : left.search, "");
    return inQuery ? left.searchParams : new URLSearchParams(left.hash.slice(1));
  }

  async function redeem(code: string, by = client, more = {}): Promise<Answer> {
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri, ...more };
    return peer.send(paths.token, form, basic(by));
  }

  async function given(shown: Shown, by: MadeClient, verifier?: string): Promise<Given> {
    const parameters = told(shown);
    assert.equal(parameters.get("error"), null, parameters.toString());
    assert.equal(parameters.get("iss"), peer.issuer);
    if (responseType !== "code") {
      const accessToken = parameters.get("access_token") ?? undefined;
      assert.equal(accessToken !== undefined, responseType === "id_token token");
      if (accessToken !== undefined) {
        assert.equal(parameters.get("token_type"), "Bearer");
        assert.ok(Number(parameters.get("expires_in")) > 0);
      }
      return { parameters, accessToken, idToken: parameters.get("id_token") ?? "", tokens: {} };
    }
    const proof: Record<string, string> = verifier === undefined ? {} : { code_verifier: verifier };
    const { status, body, text } = await redeem(parameters.get("code") ?? "", by, proof);
    assert.equal(status, 200, text);
    return { parameters, accessToken: body.access_token, idToken: body.id_token, tokens: body };
  }

  async function verified({ idToken, accessToken }: Given, by = client): Promise<JWTPayload> {
    const { body } = await read(await fetch(`${peer.issuer}${paths.keys}`));
    const { payload, protectedHeader } = await jwtVerify(idToken, createLocalJWKSet(body), {
      issuer: peer.issuer,
      audience: by.clientId,
      algorithms: ["RS256"],
      currentDate: peer.now(),
    });
    assertHeader(protectedHeader, body.keys);
    const now = peer.now().getTime() / 1_000;
    assert.ok(Math.abs(Number(payload.iat) - now) < 300);
    assert.ok(Number(payload.exp) - now < 50 * 365 * 86_400);
    if (accessToken !== undefined && payload["at_hash"] !== undefined) {
      assert.equal(payload["at_hash"], halfHash(accessToken));
    }
    assertTyped(payload);
    return payload;
  }

  return {
    peer,
    profile,
    client,
    second,
    user,
    ask,
    told,
    redeem,
    verified,
    agent: () => userAgent(peer.issuer),
    async logIn(agent, { code_verifier: verifier, ...more } = {}, by = client) {
      let shown = await ask(agent, more, by);
      if (shown.left === undefined && shown.url.pathname.startsWith("/ui/login/")) {
        shown = await signIn(agent, user.loginName);
      }
      return given(shown, by, verifier);
    },
    silently: async (agent, more) => given(await ask(agent, more), client),
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

function assertHeader(header: ProtectedHeaderParameters, keys: { kid: string }[]): void {
  assert.ok(header.kid !== undefined);
  assert.equal(keys.filter(({ kid }) => kid === header.kid).length, 1);
}

/** Claims that stand in an ID token beside those of the protocol. */
export const beyondTheProtocol = (claims: JWTPayload): string[] =>
  Object.keys(claims)
    .filter((name) => !ofTheProtocol.has(name))
    .sort();

/** OpenID Connect Core 1.0 section 3.1.3.6: the left half of the hash, for RS256 of SHA-256. */
const halfHash = (token: string): string =>
  createHash("sha256").update(token).digest().subarray(0, 16).toString("base64url");

const booleans = new Set(["email_verified", "phone_number_verified"]);
const numbers = new Set(["updated_at", "exp", "iat", "nbf", "auth_time"]);
const lists = new Set(["aud", "amr"]);

/** Point 13: claims of the right types; none is null, empty, or the text "null". */
export function assertTyped(claims: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(claims)) {
    if (booleans.has(name)) assert.equal(typeof value, "boolean", name);
    else if (numbers.has(name)) assert.ok(Number.isInteger(value), name);
    else if (name === "address") assertTyped(Object(value));
    else if (lists.has(name)) assert.ok(Array.isArray(value) && value.length > 0, name);
    else assert.ok(typeof value === "string" && value !== "" && value !== "null", name);
  }
  const { birthdate } = claims;
  if (birthdate !== undefined) assert.match(String(birthdate), /^\d{4}(-\d\d-\d\d)?$/);
}

/** Point 10: at least 16 bytes, and more than 96 bits by the letters that it is made of. */
export function assertRandom(token: string): void {
  assert.ok(Buffer.byteLength(token) >= 16);
  const counts = new Map<string, number>();
  for (const letter of token) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const perLetter = [...counts.values()]
    .map((count) => count / token.length)
    .reduce((sum, share) => sum - share * Math.log2(share), 0);
  assert.ok(perLetter * token.length > 96, `${perLetter * token.length} bits`);
}

/** Point 16: an error answer holds these members alone, and a description that everybody can show. */
export function assertErrorAnswer(parameters: URLSearchParams, ...codes: string[]): void {
  assert.ok(codes.includes(parameters.get("error") ?? ""), parameters.toString());
  const known = new Set([
    "error",
    "error_description",
    "error_uri",
    "state",
    "iss",
    "session_state",
  ]);
  for (const name of parameters.keys()) assert.ok(known.has(name), name);
  assert.match(parameters.get("error_description") ?? "", /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
}
