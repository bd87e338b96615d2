import type { Awaitable } from "../../awaitable.ts";
import { audOf, projectIdsOf, stillAddressed } from "./audience.ts";
import { idTokenClaims, ownClaims, tellingTo } from "./claims.ts";
import { OAuthError } from "./errors.ts";
import { withFunction } from "./functions.ts";
import type { Lifetimes } from "./settings-ports.ts";
import { halfHash, seconds, signJwt } from "./jwt.ts";
import type { ApiPower, AudienceRef } from "./api-ports.ts";
import type {
  AccessToken,
  Actor,
  At,
  Client,
  Issue,
  Issued,
  OidcSession,
  Ports,
  Spend,
  User,
} from "./ports.ts";

export type IssueParts = Pick<
  Ports,
  "users" | "tokens" | "keys" | "settings" | "functions" | "now" | "newId" | "newSecret"
>;

/** What is allowed to whom; the session gets its id when it is opened. */
export type SessionData = Omit<OidcSession, "id">;

export type Wanted = {
  user: User;
  clientId: string;
  /** Undefined for a machine user, which is a client by itself. */
  client: Client | undefined;
  /** Of this answer; the session may allow more. */
  scope: readonly string[];
  audience: readonly AudienceRef[];
  access: ApiPower | undefined;
  /** Opens a session, goes on with one (whose refresh tokens end at a time), or has none. */
  session: { open: SessionData } | { renew: OidcSession; refreshEnd: Date } | undefined;
  accessToken: "opaque" | "jwt" | undefined;
  idToken: boolean;
  refreshToken: boolean;
  spend: readonly Spend[];
  impersonation?: { actor: Actor } | undefined;
};

/** The members of a successful answer (RFC 6749 section 5.1). */
export type TokenFields = {
  access_token?: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token?: string;
  id_token?: string;
  scope: string;
};

export type Outcome =
  | { outcome: "issued"; fields: TokenFields }
  | Exclude<Issued, { outcome: "issued" | "taken" }>;

/** How access tokens of an app or of a machine user look. */
export const formOf = ({ accessTokenType }: Pick<Client, "accessTokenType">): "opaque" | "jwt" =>
  accessTokenType === "jwt" ? "jwt" : "opaque";

/** The scope that a client gets of what was asked: refresh tokens only where it has that grant. */
export const grantedScope = (client: Client, asked: readonly string[]): string[] =>
  asked.filter((each) => each !== "offline_access" || mayRefresh(client));

export const mayRefresh = ({ grantTypes }: Client): boolean => grantTypes.includes("refresh_token");

// Two processes that draw an id in the same millisecond draw the same one in 2 million times (crypto/ids.ts).
const mostDraws = 3;

/**
 * Makes tokens and stores them; the answer is worth nothing unless it was stored. Where an id is in use that was drawn for them, others
 * are made.
 */
export async function issueTokens(parts: IssueParts, at: At, asked: Wanted): Promise<Outcome> {
  for (let draw = 1; draw <= mostDraws; draw += 1) {
    const outcome = await issueOnce(parts, at, asked);
    if (outcome.outcome !== "taken") return outcome;
  }
  throw new OAuthError("temporarily_unavailable", "no id is free: try again", { status: 503 });
}

async function issueOnce(
  parts: IssueParts,
  at: At,
  asked: Wanted,
): Promise<Outcome | { outcome: "taken" }> {
  const { tokens, settings, now, newId, newSecret } = parts;
  const { session } = asked;
  const wanted =
    session === undefined
      ? asked
      : { ...asked, audience: await stillAddressed(parts, at, { ...asked, session }) };
  const { organizationId } = wanted.client ?? wanted.user;
  const lifetimes = await settings.lifetimes(at, organizationId);
  const issuedAt = now();
  const after = (ms: number) => new Date(issuedAt.getTime() + ms);
  const of: OidcSession | undefined =
    session === undefined || "renew" in session ? session?.renew : { id: newId(), ...session.open };
  const accessToken =
    wanted.accessToken === undefined
      ? undefined
      : await makeAccessToken(parts, at, wanted, of, issuedAt, after(lifetimes.accessTokenMs));
  const refreshEnd =
    session !== undefined && "renew" in session
      ? session.refreshEnd
      : after(lifetimes.refreshTokenMs);
  const refreshToken = wanted.refreshToken
    ? {
        value: newSecret("refresh_token"),
        idleExpiresAt: earlier(after(lifetimes.refreshTokenIdleMs), refreshEnd),
        expiresAt: refreshEnd,
      }
    : undefined;
  const idTokenEnd = after(lifetimes.idTokenMs);
  // Only an exchange asks for it.
  const idTokenId = wanted.idToken && (await settings.isTokenExchangeOn(at)) ? newId() : undefined;
  const idToken = wanted.idToken
    ? await makeIdToken(parts, at, wanted, of, accessToken?.value, {
        id: idTokenId,
        issuedAt,
        expiresAt: idTokenEnd,
      })
    : undefined;
  const stored: Issue = {
    user: wanted.user,
    clientId: wanted.clientId,
    session: sessionOf(session, of, lifetimes, issuedAt, refreshToken?.expiresAt),
    accessToken,
    refreshToken,
    idToken:
      idTokenId === undefined
        ? undefined
        : { id: idTokenId, audience: wanted.audience, expiresAt: idTokenEnd },
    spend: wanted.spend,
    impersonation: wanted.impersonation,
  };
  const issued = await tokens.issue(at, stored);
  if (issued.outcome !== "issued") return issued;
  const life = accessToken === undefined ? lifetimes.idTokenMs : lifetimes.accessTokenMs;
  return {
    outcome: "issued",
    fields: {
      ...(accessToken === undefined ? {} : { access_token: accessToken.value }),
      token_type: "Bearer",
      expires_in: Math.floor(life / 1000),
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken.value }),
      ...(idToken === undefined ? {} : { id_token: idToken }),
      scope: wanted.scope.join(" "),
    },
  };
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

function sessionOf(
  session: Wanted["session"],
  of: OidcSession | undefined,
  { accessTokenMs, idTokenMs }: Lifetimes,
  issuedAt: Date,
  refreshEnd: Date | undefined,
): Issue["session"] {
  if (session === undefined || of === undefined) return undefined;
  if ("renew" in session) return { id: of.id, sessionId: of.sessionId, actor: of.actor };
  // Until then something of it can live: the last refresh gives the last access token.
  const from = refreshEnd ?? issuedAt;
  return { open: of, expiresAt: new Date(from.getTime() + Math.max(accessTokenMs, idTokenMs)) };
}

function makeAccessToken(
  parts: IssueParts,
  at: At,
  wanted: Wanted,
  session: OidcSession | undefined,
  issuedAt: Date,
  expiresAt: Date,
): Awaitable<NonNullable<Issue["accessToken"]>> {
  const { user, clientId, scope, audience, access } = wanted;
  const isJwt = wanted.accessToken === "jwt";
  const token: AccessToken = {
    id: parts.newId(),
    clientId,
    userId: user.id,
    oidcSessionId: session?.id ?? "",
    sessionId: session?.sessionId ?? "",
    scope,
    audience,
    access,
    isJwt,
    issuedAt,
    expiresAt,
    authTime: session?.authTime,
    amr: session?.amr ?? [],
    acr: session?.acr,
    actor: session?.actor,
    claims: session?.claims,
    parents: session?.parents ?? [],
  };
  if (!isJwt) return { value: parts.newSecret("access_token"), token };
  return makeJwtAccessToken(parts, at, wanted, token);
}

async function makeJwtAccessToken(
  parts: IssueParts,
  at: At,
  { user, clientId, client, scope, audience }: Wanted,
  token: AccessToken,
): Promise<NonNullable<Issue["accessToken"]>> {
  const { issuedAt, expiresAt } = token;
  const from = seconds(issuedAt) - seconds(new Date(client?.clockSkewMs ?? 0));
  const asserted = client?.accessTokenRoleAssertion ?? false;
  const aud = audOf(at, audience);
  // RFC 9068 section 2.2, and what of the service's own was asked for; never a profile.
  const claims = {
    ...(await ownClaims(
      parts,
      at,
      tellingTo(client, { user, scope, projectIds: projectIdsOf(audience) }, asserted),
    )),
    iss: at.issuer,
    sub: user.id,
    aud,
    exp: seconds(expiresAt),
    iat: from,
    nbf: from,
    jti: token.id,
    client_id: clientId,
    scope: scope.join(" "),
    // RFC 9068 section 2.2.1: what RFC 9470 lets resource servers ask for.
    auth_time: authTimeOf(token),
    acr: token.acr,
    act: token.actor,
  };
  // A machine user has no algorithm of its own: who reads its tokens finds the key by `kid`.
  const signer = await parts.keys.signer(at, client?.idTokenAlg);
  const context = { user, clientId, actor: token.actor, claims };
  const whole = await withFunction(parts, at, "preaccesstoken", context);
  return { value: await signJwt(signer, "at+jwt", whole), token };
}

const authTimeOf = (session: { authTime?: Date | undefined } | undefined): number | undefined =>
  session?.authTime === undefined ? undefined : seconds(session.authTime);

async function makeIdToken(
  parts: IssueParts,
  at: At,
  wanted: Wanted,
  session: OidcSession | undefined,
  accessToken: string | undefined,
  { id, issuedAt, expiresAt }: { id: string | undefined; issuedAt: Date; expiresAt: Date },
): Promise<string> {
  const { user, clientId, client, scope, audience } = wanted;
  const signer = await parts.keys.signer(at, client?.idTokenAlg ?? "RS256");
  const asserted = client?.idTokenRoleAssertion ?? false;
  const projectIds = projectIdsOf(audience);
  const telling = tellingTo(client, { user, scope, projectIds }, asserted);
  const withScope = accessToken === undefined || (client?.idTokenUserinfoAssertion ?? false);
  const amr = session?.amr ?? [];
  const claims = {
    ...(await idTokenClaims(parts, at, telling, session?.claims?.id_token, withScope)),
    // Relying parties refuse audiences that they do not know (OpenID Connect Core 1.0 section 3.1.3.7); the ID token of a
    // machine user has no relying party but the issuer.
    iss: at.issuer,
    sub: user.id,
    aud: [client?.clientId ?? at.issuer],
    // What a machine user calls themselves is the name of no client.
    azp: client?.clientId,
    jti: id,
    exp: seconds(expiresAt),
    iat: seconds(issuedAt) - seconds(new Date(client?.clockSkewMs ?? 0)),
    auth_time: authTimeOf(session),
    nonce: session?.nonce,
    at_hash: accessToken === undefined ? undefined : halfHash(accessToken, signer.alg),
    amr: amr.length === 0 ? undefined : amr,
    acr: session?.acr,
    sid: session?.sessionId === "" ? undefined : session?.sessionId,
    act: session?.actor,
  };
  const context = { user, clientId, actor: session?.actor, claims };
  return signJwt(signer, undefined, await withFunction(parts, at, "preidtoken", context));
}
