import { columnsWhere } from "../../projection/rows.ts";
import { whenKnown } from "../../awaitable.ts";
import { accessTokenKey } from "./secrets.ts";
import { newerFormat, newerFormatOf } from "../../crypto/token-format.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { isLiving, sessionById } from "../../resources/session/index.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { Row } from "../../storage/table.ts";
import type { At, Clients, OidcSession, Tokens, Users } from "../core/ports.ts";
import { accessTokenReader } from "./access-tokens.ts";
import { authorizationCodeStore } from "./codes.ts";
import {
  accessToken,
  oidcSession,
  refreshToken,
  refreshTokenEvents,
  tokenEvents,
} from "./events.ts";
import { isExternal } from "./issue-session.ts";
import { issueIn } from "./issue.ts";
import { endOidcSession, oidcSessionReader, terminate } from "./sessions.ts";
import { hasRow } from "./spend.ts";
import { accessTokens, idTokens, oidcSessions, refreshTokens } from "./tables.ts";
import { writtenBy } from "./write.ts";

// Those of one client in one session of a user: more than anybody has.
const mostSessions = 100;

/** What the tokens ask of identity providers. */
export type TokenPorts = {
  /** Whether a provider is active in an organization (E5). */
  isIdpActive(instanceId: string, organizationId: string, idpId: string): Promise<boolean>;
};

/** Tokens, and the OIDC sessions they stand on. */
export function tokenStore(
  parts: Pick<Deps, "db" | "apps" | "events" | "secrets" | "policies" | "now" | "newId"> &
    TokenPorts & {
      users: Pick<Users, "byId" | "mayUse">;
      clients: Pick<Clients, "byId">;
    },
): Tokens {
  const { db, secrets, now } = parts;
  const sessionOf = oidcSessionReader(parts);
  const accessTokenOf = accessTokenReader(parts);
  const loginSession = sessionById(db);
  const byDigest = rowByKey(db, refreshTokens);
  const idTokenBy = rowByKey(db, idTokens);

  async function refreshTokenOf(at: At, value: string) {
    const { instanceId } = at;
    if (newerFormatOf(value) !== undefined) return undefined;
    const digest = await secrets.digest(instanceId, value);
    const row = await byDigest(instanceId, digest);
    if (row === undefined) return undefined;
    const session = await sessionOf(instanceId, row.oidcSessionId);
    return session && { ...row, session };
  }

  return {
    ...authorizationCodeStore(parts),
    ...issueIn(parts),
    accessToken: accessTokenOf,
    newerFormat,

    async refreshToken(at, value) {
      const token = await refreshTokenOf(at, value);
      if (token === undefined) return undefined;
      return (await isProviderOn(parts, at.instanceId, token.session)) ? token : undefined;
    },

    async endSession(at, id, reason) {
      const session = await sessionOf(at.instanceId, id);
      if (session !== undefined) await endOidcSession(parts, at, session, reason);
    },

    async revoke(at, value) {
      const access = await accessTokenOf(at, value);
      if (access !== undefined) return revokeAccess(parts, at, access, value);
      const refresh = await refreshTokenOf(at, value);
      if (refresh !== undefined) await revokeRefresh(parts, at, refresh);
    },

    audienceOfIdToken: async ({ instanceId }, id) => (await idTokenBy(instanceId, id))?.audience,

    async givenTo({ instanceId }, { userId, clientId, sessionId }) {
      const s = db.table(oidcSessions);
      const rows = await db.read
        .select({ id: s.id })
        .from(s)
        .where(
          and(
            eq(s.instanceId, instanceId),
            eq(s.userId, userId),
            eq(s.clientId, clientId),
            sessionId === "" ? undefined : eq(s.sessionId, sessionId),
          ),
        )
        .limit(mostSessions);
      const scope = new Set(["openid"]);
      let access: OidcSession["access"];
      for (const { id } of rows) {
        const session = await sessionOf(instanceId, id);
        session?.scope.forEach((word) => scope.add(word));
        access ??= session?.access;
      }
      return { scope: [...scope], access };
    },

    isSessionAlive: ({ instanceId }, sessionId) =>
      whenKnown(
        loginSession(instanceId, sessionId),
        (row) => row !== undefined && isLiving(row, now()),
      ),
  };
}

/** What came of a login with an identity provider is renewed only while that is active (E5). */
async function isProviderOn(
  { db, isIdpActive }: Pick<Deps, "db"> & TokenPorts,
  instanceId: string,
  session: OidcSession,
): Promise<boolean> {
  if (!isExternal(session)) return true;
  const { id, organizationId } = session;
  await db.catchUp();
  const [row] = await columnsWhere(db, oidcSessions, ["idpId"], { instanceId, id });
  if (row === undefined || row.idpId === "") return true;
  return isIdpActive(instanceId, organizationId, row.idpId);
}

type Revoking = Pick<Deps, "db" | "events" | "secrets">;

async function revokeAccess(
  { db, events, secrets }: Revoking,
  at: At,
  { id, userId, clientId, oidcSessionId }: FoundAccessToken,
  value: string,
): Promise<void> {
  const { instanceId } = at;
  const row = { instanceId, digest: await accessTokenKey(secrets, instanceId, value) };
  const by = writtenBy(at, userId, clientId, { id: oidcSessionId || undefined });
  await events.transact(by, async (tx) => {
    if (!(await hasRow(db, accessTokens, row))) return;
    tx.expectRows(accessTokens, row, 1);
    tx.write(deleteRows(accessTokens, row));
    const removed = tokenEvents["token.removed"]({ userId, clientId, oidcSessionId });
    tx.record(accessToken, await tx.load(accessToken, id), [removed]);
  });
}

async function revokeRefresh(
  { events }: Revoking,
  at: At,
  { id, session, oidcSessionId }: FoundRefreshToken,
): Promise<void> {
  const { userId, clientId } = session;
  await events.transact(writtenBy(at, userId, clientId, session), async (tx) => {
    const loaded = await tx.load(oidcSession, oidcSessionId);
    if (!loaded.state.isOpen) return;
    tx.record(oidcSession, loaded, terminate(true, "revoked"));
    const removed = refreshTokenEvents["human.refresh.token.removed"];
    const token = await tx.load(refreshToken, id);
    tx.record(refreshToken, token, [removed({ userId, clientId, oidcSessionId })]);
  });
}

type FoundAccessToken = NonNullable<Awaited<ReturnType<Tokens["accessToken"]>>>;
type FoundRefreshToken = Row<typeof refreshTokens> & { session: OidcSession };
