import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Authentication, TokenLimit } from "../../authz/context.ts";
import type { TokenVerifier } from "../../authz/ports.ts";
import { ownCredentials, userWriting } from "../../authz/roles.ts";
import { authenticationOf, isLiving, sessionById } from "../../resources/session/index.ts";
import type { Database } from "../../storage/database.ts";
import { actorsOf } from "./write.ts";
import { commonReach } from "../core/api-power.ts";
import type { Settings } from "../core/settings-ports.ts";
import type { ApiPower, ApiReach } from "../core/api-ports.ts";
import type { AccessToken, Client, Clients, Tokens, User, Users } from "../core/ports.ts";

/**
 * Recognises access tokens at the APIs (B5): those whose audience is the service's own API, while they live and
 * their users and clients are active. What they may do is what their users consented to, as far as it still may be given
 * (J4).
 */
export const oidcAccessTokens = (ports: {
  db: Database;
  now: () => Date;
  tokens: Pick<Tokens, "accessToken">;
  users: Pick<Users, "byId">;
  clients: Pick<Clients, "byId">;
  settings: Pick<Settings, "ownProjectId">;
}): TokenVerifier => {
  const limitOf = limits();
  const authentication = authenticationReader(ports);
  return (value, { instanceId, issuer }) => {
    const at = { instanceId, issuer, requestId: "" };
    return whenKnown(ports.tokens.accessToken(at, value), (token) => {
      if (!token?.audience.some(({ kind }) => kind === "api")) return undefined;
      return whenKnown(ports.users.byId(at, token.userId), (user) => {
        if (user === undefined) return undefined;
        const { id: userId, organizationId } = user;
        const { clientId } = token;
        const actorIds = actorsOf(token.actor);
        const caller = {
          kind: "user" as const,
          userId,
          organizationId,
          tokenKind: "access_token",
          clientId,
          ...(actorIds.length === 0 ? {} : { actorIds }),
        };
        // Machine users stand for themselves.
        if (token.oidcSessionId === "") return caller;
        const { oidcSessionId: familyId } = token;
        return whenKnown(ports.clients.byId(at, clientId), (client) => {
          if (client === undefined) return undefined;
          const limit = limitOf(token, client, user);
          return whenKnown(authentication(instanceId, token), (proven) => ({
            ...caller,
            familyId,
            ...(limit && { limit }),
            ...(proven && { authentication: proven }),
          }));
        });
      });
    });
  };
};

const nothingButReading: TokenLimit = {
  permissions: [],
  instance: false,
  organizationIds: [],
  ownAccount: "read",
  holds: [],
};

const everything: TokenLimit = {
  permissions: ["*"],
  instance: true,
  organizationIds: [],
  ownAccount: "write",
  holds: [],
};

/** Limits of tokens; the same object for as long as nothing that it is made of changes. */
function limits() {
  const made = new WeakMap<
    ApiPower,
    { client: Client; organizationId: string; limit: TokenLimit | undefined }
  >();
  return ({ access }: AccessToken, client: Client, user: User): TokenLimit | undefined => {
    if (access === undefined) return nothingButReading;
    const { organizationId } = user;
    let cached = made.get(access);
    if (cached?.client !== client || cached.organizationId !== organizationId) {
      made.set(
        access,
        (cached = { client, organizationId, limit: limitFor(access, client, organizationId) }),
      );
    }
    return cached.limit;
  };
}

/** What is left of what a user gave, by what may be given now. */
function limitFor(
  access: ApiPower,
  client: Client,
  organizationId: string,
): TokenLimit | undefined {
  switch (access.kind) {
    case "own":
      return nothingButReading;
    case "organization": {
      const isHome = access.organizationId === organizationId;
      if (!isHome || client.organizationId !== organizationId) return nothingButReading;
      return {
        ...everything,
        instance: false,
        organizationIds: [organizationId],
        ownAccount: "read",
      };
    }
    case "everything":
      return client.isOwnerMade ? everything : nothingButReading;
    case "given":
      return client.apiAccess === undefined
        ? nothingButReading
        : givenLimit(commonReach(access, client.apiAccess));
    case "legacy":
      return client.isLegacy ? undefined : nothingButReading;
    default:
      return access satisfies never;
  }
}

function givenLimit({ permissions, instance, organizationIds }: ApiReach): TokenLimit {
  const ownAccount = permissions.includes(ownCredentials)
    ? "credential"
    : permissions.includes("*") || permissions.includes(userWriting)
      ? "write"
      : "read";
  return { permissions, instance, organizationIds, ownAccount, holds: permissions };
}

/** What the user of a token had proven when it was issued; nothing where somebody else acts for them. */
function authenticationReader({ db, now }: { db: Database; now: () => Date }) {
  const sessionOf = sessionById(db);
  return (
    instanceId: string,
    { sessionId, userId, authTime, issuedAt, actor }: AccessToken,
  ): Awaitable<Authentication | undefined> => {
    if (sessionId === "" || authTime === undefined || actor !== undefined) return undefined;
    return whenKnown(sessionOf(instanceId, sessionId), (session) =>
      session === undefined || session.userId !== userId || !isLiving(session, now())
        ? undefined
        : authenticationOf(session, { at: issuedAt, authTime }),
    );
  };
}
