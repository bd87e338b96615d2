import { kidOf, subjectOfAssertion, verifyAssertion } from "../../assertion.ts";
import { invalidRequest } from "../../errors.ts";
import { readIdToken } from "../../id-token.ts";
import { tokenPath } from "../../paths.ts";
import type { Actor, At, Client, Parent, Spend, User } from "../../ports.ts";
import type { TokenParts } from "../grant.ts";

export const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
export const idTokenType = "urn:ietf:params:oauth:token-type:id_token";
export const jwtType = "urn:ietf:params:oauth:token-type:jwt";
const userIdType = "urn:idsvc:params:oauth:token-type:user_id";

/** Whom a subject or actor token names, and what it stands on. */
export type Party = {
  user: User;
  audience: readonly string[];
  authTime: Date | undefined;
  amr: readonly string[];
  /** Who acted for him already. */
  actor: Actor | undefined;
  /** What ends what comes from this. */
  parents: readonly Parent[];
  spend: readonly Spend[];
  /** It is no token of the user himself: only somebody who may act for him can use it. */
  needsActor: boolean;
};

type Reader = (
  parts: TokenParts,
  at: At,
  client: Client,
  value: string,
) => Promise<Omit<Party, "needsActor"> | undefined>;

const readers: Record<string, { read: Reader; mayAct: boolean; needsActor: boolean }> = {
  [accessTokenType]: { read: byAccessToken, mayAct: true, needsActor: false },
  [idTokenType]: { read: byIdToken, mayAct: true, needsActor: false },
  [jwtType]: { read: byJwt, mayAct: false, needsActor: true },
  [userIdType]: { read: byUserId, mayAct: false, needsActor: true },
};

/**
 * Reads a token that is to be exchanged (RFC 8693 section 2.1), of a type that is allowed in its place.
 * @throws OAuthError invalid_request, whatever is wrong with it
 */
export async function readParty(
  parts: TokenParts,
  at: At,
  client: Client,
  place: "subject_token" | "actor_token",
  { value, type }: { value: string; type: string },
): Promise<Party> {
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (reader === undefined || (place === "actor_token" && !reader.mayAct)) {
    throw invalidRequest(`the type of the ${place} is not allowed`);
  }
  const found = await reader.read(parts, at, client, value);
  if (found === undefined) throw invalidRequest(`the ${place} is invalid`);
  return { ...found, needsActor: reader.needsActor };
}

const isFor = ({ clientId, projectId }: Client, audience: readonly string[]): boolean =>
  audience.includes(clientId) || audience.includes(projectId);

async function byAccessToken(
  { tokens, users }: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  const token = await tokens.accessToken(at, value);
  if (token === undefined || !isFor(client, token.audience)) return undefined;
  const user = await users.byId(at, token.userId);
  if (user === undefined) return undefined;
  const { id, oidcSessionId, sessionId, audience, authTime, amr, actor } = token;
  const loggedIn = sessionId === "" ? "" : user.id;
  const parents = [
    { id, userId: loggedIn },
    { id: user.id, userId: "" },
    { id: oidcSessionId, userId: loggedIn },
    { id: sessionId, userId: loggedIn },
    ...token.parents,
  ];
  return { user, audience, authTime, amr, actor, spend: [], parents: named(parents) };
}

async function byIdToken(
  parts: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  const token = await readIdToken(parts, at, value);
  if (token === undefined || token.isExpired || !isFor(client, token.audience)) return undefined;
  const { userId, sessionId, audience, authTime, amr, actor } = token;
  if (sessionId !== "" && !(await parts.tokens.isSessionAlive(at, sessionId))) return undefined;
  const user = await parts.users.byId(at, userId);
  if (user === undefined) return undefined;
  const loggedIn = sessionId === "" ? "" : userId;
  const parents = [
    { id: userId, userId: "" },
    { id: sessionId, userId: loggedIn },
    ...actorsOf(actor).map((id) => ({ id, userId: "" })),
  ];
  return { user, audience, authTime, amr, actor, spend: [], parents: named(parents) };
}

/** A JWT that the client signed about a user. */
async function byJwt(
  { clients, users, now }: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  if (subjectOfAssertion(value) === undefined || kidOf(value) === undefined) return undefined;
  const verified = await verifyAssertion(value, {
    keyOf: (kid) => clients.keyOf(at, client, kid),
    audiences: client.strictAssertionAudience
      ? [at.issuer]
      : [at.issuer, `${at.issuer}${tokenPath}`],
    now: now(),
  });
  if (verified?.issuer !== client.clientId) return undefined;
  const user = await users.byId(at, verified.subject);
  if (user === undefined) return undefined;
  const { jti = verified.digest, expiresAt } = verified;
  const spend = [
    { kind: "assertion" as const, issuer: `client:${client.clientId}`, jti, expiresAt },
  ];
  return { ...onlyNamed(user), spend };
}

async function byUserId(
  { users }: TokenParts,
  at: At,
  _: Client,
  value: string,
): ReturnType<Reader> {
  const user = await users.byId(at, value);
  return user && { ...onlyNamed(user), spend: [] };
}

const onlyNamed = (user: User) => ({
  ...{ user, audience: [], authTime: undefined, amr: [], actor: undefined },
  parents: [{ id: user.id, userId: "" }],
});

const named = (parents: readonly Parent[]): Parent[] => parents.filter(({ id }) => id !== "");

/** All who act, the last one first. */
export const actorsOf = (actor: Actor | undefined): string[] =>
  actor === undefined ? [] : [actor.sub, ...actorsOf(actor.act)];
