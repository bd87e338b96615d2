import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { insertRow } from "../../storage/row-change.ts";
import type { At, Issue } from "../core/ports.ts";
import {
  accessToken,
  deviceAuthorization,
  deviceEvents,
  refreshToken,
  refreshTokenEvents,
  tokenEvents,
} from "./events.ts";
import { accessTokenKey } from "./secrets.ts";
import { accessTokens, idTokens, onlyPart, refreshTokens } from "./tables.ts";
import { ownedBy } from "./write.ts";

type Parts = Pick<Deps, "secrets" | "newId">;

/** Writes the rows and the events of everything that is issued at once. */
export async function storeIssued(
  parts: Parts,
  tx: Transaction,
  { instanceId }: At,
  wanted: Issue,
): Promise<void> {
  const { user, impersonation } = wanted;
  const about = { userId: user.id, clientId: wanted.clientId, oidcSessionId: sessionIdOf(wanted) };
  if (wanted.accessToken !== undefined) {
    await storeAccessToken(parts, tx, { instanceId, wanted, about }, wanted.accessToken);
  }
  if (wanted.idToken !== undefined) {
    const { id, audience, expiresAt } = wanted.idToken;
    tx.write(insertRow(idTokens, { instanceId, id, audience: [...audience], expiresAt }));
  }
  for (const spent of wanted.spend) {
    if (spent.kind !== "device_code") continue;
    const request = await tx.load(deviceAuthorization, spent.requestId);
    const done = deviceEvents.done(about);
    tx.record(deviceAuthorization, request, [done]);
  }
  if (impersonation !== undefined) {
    const id = wanted.accessToken?.token.id ?? parts.newId();
    const happened = tokenEvents.impersonated({ ...about, ...impersonation });
    tx.record(accessToken, tx.begin(accessToken, id), [happened], ownedBy(user));
  }
  if (wanted.refreshToken !== undefined) {
    await storeRefreshToken(parts, tx, { instanceId, wanted, about }, wanted.refreshToken);
  }
}

/** The session that something is issued in; empty where it stands for itself. */
export const sessionIdOf = ({ session }: Issue): string => {
  if (session === undefined) return "";
  return "open" in session ? session.open.id : session.id;
};

type Context = {
  instanceId: string;
  wanted: Issue;
  about: { userId: string; clientId: string; oidcSessionId: string };
};

async function storeAccessToken(
  { secrets }: Parts,
  tx: Transaction,
  { instanceId, wanted, about }: Context,
  issued: NonNullable<Issue["accessToken"]>,
): Promise<void> {
  const { value, token } = issued;
  const { id, scope, audience, isJwt, issuedAt, expiresAt } = token;
  const digest = await accessTokenKey(secrets, instanceId, value, isJwt ? id : "");
  tx.write(
    insertRow(accessTokens, {
      instanceId,
      digest,
      part: onlyPart,
      id,
      userId: about.userId,
      clientId: about.clientId,
      oidcSessionId: about.oidcSessionId,
      scope: [...scope],
      audience: [...audience],
      isJwt,
      issuedAt,
      expiresAt,
    }),
  );
  const added = tokenEvents["token.added"]({
    ...about,
    scope,
    expirationDate: expiresAt.toISOString(),
  });
  tx.record(accessToken, tx.begin(accessToken, id), [added], ownedBy(wanted.user));
}

async function storeRefreshToken(
  { secrets, newId }: Parts,
  tx: Transaction,
  { instanceId, wanted, about }: Context,
  issued: NonNullable<Issue["refreshToken"]>,
): Promise<void> {
  const { value, idleExpiresAt, expiresAt } = issued;
  const id = newId();
  const digest = await secrets.digest(instanceId, value);
  const row = { instanceId, digest, id, oidcSessionId: about.oidcSessionId, isSpent: false };
  tx.write(insertRow(refreshTokens, { ...row, idleExpiresAt, expiresAt }));
  const isRenewed = wanted.spend.some(({ kind }) => kind === "refresh_token");
  const name = isRenewed ? "human.refresh.token.renewed" : "human.refresh.token.added";
  const happened = refreshTokenEvents[name]({
    ...about,
    expirationDate: expiresAt.toISOString(),
  });
  tx.record(refreshToken, tx.begin(refreshToken, id), [happened], ownedBy(wanted.user));
}
