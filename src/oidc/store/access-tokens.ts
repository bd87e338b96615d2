import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { accessTokenKey } from "./secrets.ts";
import { hash } from "node:crypto";
import { tokenPrefixes } from "../../crypto/digests.ts";
import { newerFormatOf } from "../../crypto/token-format.ts";
import type { Deps } from "../../projection/module.ts";
import { rowByKey } from "../../projection/ids.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { AccessToken, Actor, At, Clients, Tokens, Users } from "../core/ports.ts";
import { audienceReader } from "./references.ts";
import { oidcSessionReader } from "./sessions.ts";
import { accessTokens, endsOf, oidcLineage, oidcSessions } from "./tables.ts";

// Longer than any token of ours, a JWT with all its claims included.
const longestToken = 16_384;

/**
 * Living access tokens by the exact string, opaque ones and JWTs alike: what is not byte-equal to something that was
 * issued does not exist, so no signature is verified here. From memory where nothing of it has ended.
 */
export function accessTokenReader(
  parts: Pick<Deps, "db" | "apps" | "secrets" | "now"> & {
    users: Pick<Users, "byId" | "mayUse">;
    clients: Pick<Clients, "byId">;
  },
): Tokens["accessToken"] {
  const { db, secrets, now, users, clients } = parts;
  const session = oidcSessionReader(parts);
  const byDigest = rowByKey(db, accessTokens);
  const audienceOf = audienceReader(parts);
  const ends = [accessTokens, oidcSessions, oidcLineage].map(endsOf);
  const issued = cachedRead<AccessToken | undefined, string>(
    db,
    ends,
    async (instanceId, _, value) => {
      if (newerFormatOf(value) !== undefined) return undefined;
      const digest = await accessTokenKey(secrets, instanceId, value);
      const row = await byDigest(instanceId, digest);
      if (row === undefined) return undefined;
      const { id, clientId, userId, oidcSessionId, scope, isJwt } = row;
      const isMachine = oidcSessionId === "";
      const of = isMachine ? undefined : await session(instanceId, oidcSessionId);
      const stored = { clientId, isMachine, scope, audience: row.audience, access: of?.access };
      const reached = await audienceOf(instanceId, stored);
      const own = { id, clientId, userId, oidcSessionId, scope, isJwt, ...reached };
      const times = { issuedAt: row.issuedAt, expiresAt: row.expiresAt };
      if (isMachine) return { ...own, ...times, ...standsForItself };
      if (of === undefined) return undefined;
      const { sessionId, authTime, amr, acr, actor, claims, parents } = of;
      return { ...own, ...times, sessionId, authTime, amr, acr, actor, claims, parents };
    },
  );

  const ofActive = (at: At, token: AccessToken) =>
    whenKnown(users.byId(at, token.userId), (user) => {
      if (user === undefined) return undefined;
      return whenKnown(areActive(at, token.actor), (actors) => {
        if (!actors) return undefined;
        // Machine users are clients by themselves.
        if (token.oidcSessionId === "") return token;
        return whenKnown(clients.byId(at, token.clientId), (client) => {
          if (client === undefined) return undefined;
          // What was granted when it was issued may have been taken away.
          return whenKnown(users.mayUse(at, user, client.projectId), (may) =>
            may ? token : undefined,
          );
        });
      });
    });

  const areActive = (at: At, actor: Actor | undefined): Awaitable<boolean> => {
    if (actor === undefined) return true;
    return whenKnown(users.byId(at, actor.sub), (user) =>
      user === undefined ? false : areActive(at, actor.act),
    );
  };

  return (at, value) => {
    if (!isLikeOurs(value)) return undefined;
    return whenKnown(issued(at.instanceId, hash("sha256", value, "base64url"), value), (token) =>
      token === undefined || token.expiresAt <= now() ? undefined : ofActive(at, token),
    );
  };
}

const standsForItself = {
  sessionId: "",
  authTime: undefined,
  amr: [],
  acr: undefined,
  actor: undefined,
  claims: undefined,
  parents: [],
};

const isLikeOurs = (value: string): boolean =>
  value.startsWith(tokenPrefixes.accessToken) ||
  (value.length <= longestToken && value.split(".", 4).length === 3);
