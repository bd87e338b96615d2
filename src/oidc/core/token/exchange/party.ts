import { consentParent, consentsParent } from "../../api-power.ts";
import { isFor } from "../../audience.ts";
import { kidOf, subjectOfAssertion, verifyAssertion } from "../../assertion.ts";
import { invalidRequest } from "../../errors.ts";
import { readIdToken } from "../../id-token.ts";
import { tokenPath } from "../../paths.ts";
import type { ApiPower, AudienceRef } from "../../api-ports.ts";
import type { Actor, At, Client, Parent, Spend, User } from "../../ports.ts";
import { newer, type TokenParts } from "../grant.ts";

export const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
export const idTokenType = "urn:ietf:params:oauth:token-type:id_token";
export const jwtType = "urn:ietf:params:oauth:token-type:jwt";
const userIdType = "urn:idsvc:params:oauth:token-type:user_id";

/** Whom a subject or actor token names, and what it stands on. */
export type Party = {
  user: User;
  /** The client that it was issued to; empty for none. */
  clientId: string;
  /** It was issued to a machine user, who stands for themselves. */
  isMachine: boolean;
  /** What was consented to when it was issued; undefined for what is no token of the user. */
  scope: readonly string[] | undefined;
  audience: readonly AudienceRef[];
  access: ApiPower | undefined;
  authTime: Date | undefined;
  amr: readonly string[];
  acr: string | undefined;
  /** Who acted for them already. */
  actor: Actor | undefined;
  /** What ends what comes from this. */
  parents: readonly Parent[];
  spend: readonly Spend[];
  /** It is no token of the user's own: only somebody who may act for them can use it. */
  needsActor: boolean;
};

/** A text says what is wrong with the token: for the log alone. */
type Reader = (
  parts: TokenParts,
  at: At,
  client: Client,
  value: string,
) => Promise<Omit<Party, "needsActor"> | string>;

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
  parameter: "subject_token" | "actor_token",
  { value, type }: { value: string; type: string },
): Promise<Party> {
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (reader === undefined || (parameter === "actor_token" && !reader.mayAct)) {
    throw invalidRequest(`the type of the ${parameter} is not allowed`);
  }
  const found = await reader.read(parts, at, client, value);
  if (typeof found === "string") {
    throw invalidRequest(`the ${parameter} is invalid`, `the ${parameter}: ${found}`);
  }
  return { ...found, needsActor: reader.needsActor };
}

async function byAccessToken(
  { tokens, users }: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  const token = await tokens.accessToken(at, value);
  if (token === undefined) return `it is no living access token${newer({ tokens }, value)}`;
  if (!isFor(client, token.audience)) return notForClient;
  const user = await users.byId(at, token.userId);
  if (user === undefined) return notActive;
  const { id, oidcSessionId, sessionId, clientId, authTime, amr, acr, actor } = token;
  const { scope, audience, access } = token;
  const loggedIn = sessionId === "" ? "" : user.id;
  const parents = [
    { id, userId: loggedIn },
    { id: user.id, userId: "" },
    { id: oidcSessionId, userId: loggedIn },
    { id: sessionId, userId: loggedIn },
    ...(oidcSessionId === "" ? [] : consentOf(clientId, user)),
    ...token.parents,
  ];
  const said = { clientId, isMachine: oidcSessionId === "", scope, audience, access };
  const proof = { authTime, amr, acr, actor };
  return { user, ...said, ...proof, spend: [], parents: named(parents) };
}

// What a person takes back ends what came of it, wherever that went by exchange.
const consentOf = (clientId: string, { id }: User): Parent[] => [
  { id: consentParent(clientId, id), userId: "" },
  { id: consentsParent(clientId), userId: "" },
];

async function byIdToken(
  parts: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  const token = await readIdToken(parts, at, value);
  if (token === undefined) return "it is no ID token of this instance";
  if (token.isExpired) return "it has expired";
  const { userId, sessionId, clientId, authTime, amr, acr, actor } = token;
  if (sessionId !== "" && !(await parts.tokens.isSessionAlive(at, sessionId))) {
    return "its session has ended";
  }
  const user = await parts.users.byId(at, userId);
  if (user === undefined) return notActive;
  const kept = token.id === "" ? undefined : await parts.tokens.audienceOfIdToken(at, token.id);
  // To our own APIs an ID token is no key.
  const audience =
    kept?.filter(({ kind }) => kind !== "api") ?? (await referencesIn(parts, at, user, token));
  if (!isFor(client, audience)) return notForClient;
  // An ID token says nothing of it: what its client was given in the session.
  const given = await parts.tokens.givenTo(at, { userId, clientId, sessionId });
  const loggedIn = sessionId === "" ? "" : userId;
  const parents = [
    { id: userId, userId: "" },
    { id: sessionId, userId: loggedIn },
    ...(clientId === "" ? [] : consentOf(clientId, user)),
    ...actorsOf(actor).map((id) => ({ id, userId: "" })),
  ];
  const isMachine = clientId === "";
  const said = { ...given, clientId, isMachine, audience, authTime, amr, acr, actor };
  return { user, ...said, spend: [], parents: named(parents) };
}

/**
 * Whom an ID token says that it is for, in references: what its strings are is looked up, never guessed (J8). Those of
 * earlier releases name the project and all its apps.
 */
async function referencesIn(
  { clients, users, settings }: TokenParts,
  at: At,
  user: User,
  { clientId, audience }: { clientId: string; audience: readonly string[] },
): Promise<AudienceRef[]> {
  const own = await settings.ownProjectId(at);
  const client = clientId === "" ? undefined : await clients.byId(at, clientId);
  const apps = client === undefined ? [] : await clients.ofProject(at, client.projectId);
  const found: AudienceRef[] = [];
  for (const id of audience) {
    if (id === own) continue;
    if (client !== undefined && (id === clientId || apps.includes(id))) {
      found.push({ kind: "client", id });
    } else if (id === client?.projectId || (await users.mayAddress(at, user, id))) {
      found.push({ kind: "project", id });
    }
  }
  return found;
}

/** A JWT that the client signed about a user. */
async function byJwt(
  { clients, users, now }: TokenParts,
  at: At,
  client: Client,
  value: string,
): ReturnType<Reader> {
  if (subjectOfAssertion(value) === undefined || kidOf(value) === undefined) {
    return "it is no JWT with a subject and a kid";
  }
  const verified = await verifyAssertion(value, {
    keyOf: (kid) => clients.keyOf(at, client, kid),
    used: (kid) => clients.keyUsed(at, client, kid),
    audiences: client.strictAssertionAudience
      ? [at.issuer]
      : [at.issuer, `${at.issuer}${tokenPath}`],
    now: now(),
  });
  if ("unproven" in verified) return verified.unproven;
  if (verified.issuer !== client.clientId) return "its iss is not the client id";
  const user = await users.byId(at, verified.subject);
  if (user === undefined) return notActive;
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
  return user === undefined ? notActive : { ...onlyNamed(user), spend: [] };
}

const notForClient = "it is not for the client that asks";
const notActive = "its user is not active";

const onlyNamed = (user: User) => ({
  user,
  clientId: "",
  isMachine: false,
  scope: undefined,
  audience: [],
  access: undefined,
  authTime: undefined,
  amr: [],
  acr: undefined,
  actor: undefined,
  parents: [{ id: user.id, userId: "" }],
});

const named = (parents: readonly Parent[]): Parent[] => parents.filter(({ id }) => id !== "");

/** All who act, the last one first. */
export const actorsOf = (actor: Actor | undefined): string[] =>
  actor === undefined ? [] : [actor.sub, ...actorsOf(actor.act)];
