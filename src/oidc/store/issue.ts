import { accessTokenKey } from "./secrets.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { sessionById, sessions } from "../../resources/session/index.ts";
import { users } from "../../resources/user/index.ts";
import { allowsImpersonation } from "../../settings/security/index.ts";
import { insertRow } from "../../storage/row-change.ts";
import type { At, Issue, OidcSession, Ports, Tokens, User } from "../core/ports.ts";
import {
  accessToken,
  deviceAuthorization,
  deviceEvents,
  oidcSession,
  oidcSessionEvents,
  refreshToken,
  refreshTokenEvents,
  tokenEvents,
} from "./events.ts";
import { AlreadySpent, hasRow, spendIn } from "./spend.ts";
import { accessTokens, idTokens, oidcSessions, onlyPart, refreshTokens } from "./tables.ts";
import { type Lineage, ownedBy, writtenBy } from "./write.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "newId"> & {
  clients: Pick<Ports["clients"], "byId">;
};

/** Thrown out of a decision when what it was for has ended. */
class Ended extends Error {}

/** Stores what is issued, in one unit with what is used up for it. Nothing is read that was not in the way before. */
export function issueIn(parts: Parts): Pick<Tokens, "issue" | "spend"> {
  const { db, events, secrets, newId } = parts;
  const sessionOf = sessionById(db);

  /** The row must be there when the unit commits. */
  async function require(
    tx: Transaction,
    table: typeof users | typeof sessions | typeof oidcSessions,
    row: { instanceId: string; id: string; state?: string; userId?: string },
    isAgain: boolean,
  ): Promise<void> {
    if (isAgain && !(await hasRow(db, table, row))) throw new Ended();
    tx.expectRows<typeof table>(table, row, 1);
  }

  async function stand(
    tx: Transaction,
    at: At,
    { user, clientId }: Pick<Issue, "user" | "clientId">,
    session: NonNullable<Issue["session"]>,
    isAgain: boolean,
  ): Promise<void> {
    const { instanceId } = at;
    const { actor } = "open" in session ? session.open : session;
    if (actor !== undefined) {
      const client = await parts.clients.byId(at, clientId);
      const concerned = [user.organizationId, client?.organizationId ?? user.organizationId];
      if (!(await allowsImpersonation(tx, instanceId, concerned))) throw new Ended();
    }
    await require(tx, users, { instanceId, id: user.id, state: "active" }, isAgain);
    if (!("open" in session)) {
      return require(tx, oidcSessions, { instanceId, id: session.id }, isAgain);
    }
    const { sessionId } = session.open;
    if (sessionId !== "") {
      await require(tx, sessions, { instanceId, id: sessionId, userId: user.id }, isAgain);
    }
    const client = await parts.clients.byId(at, session.open.clientId);
    const idpId = isExternal(session.open)
      ? (await sessionOf(instanceId, sessionId))?.idpId
      : undefined;
    const tells = client !== undefined && client.backChannelLogoutUri !== "";
    open(tx, user, session, { logoutIssuer: tells ? at.issuer : undefined, idpId });
  }

  async function store(tx: Transaction, { instanceId }: At, wanted: Issue): Promise<void> {
    const { user, clientId, impersonation } = wanted;
    const oidcSessionId = idOf(wanted);
    const about = { userId: user.id, clientId, oidcSessionId };
    if (wanted.accessToken !== undefined) {
      const { value, token } = wanted.accessToken;
      const { id, scope, audience, isJwt, issuedAt, expiresAt } = token;
      const digest = await accessTokenKey(secrets, instanceId, value, isJwt ? id : "");
      tx.write(
        insertRow(accessTokens, {
          instanceId,
          digest,
          part: onlyPart,
          id,
          userId: user.id,
          clientId,
          oidcSessionId,
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
      tx.record(accessToken, tx.begin(accessToken, id), [added], ownedBy(user));
    }
    if (wanted.idToken !== undefined) {
      const { id, audience, expiresAt } = wanted.idToken;
      tx.write(insertRow(idTokens, { instanceId, id, audience: [...audience], expiresAt }));
    }
    for (const spent of wanted.spend) {
      if (spent.kind !== "device_code") continue;
      const request = await tx.load(deviceAuthorization, spent.requestId);
      const done = deviceEvents.done({ clientId, userId: user.id, oidcSessionId });
      tx.record(deviceAuthorization, request, [done]);
    }
    if (impersonation !== undefined) {
      const id = wanted.accessToken?.token.id ?? newId();
      const happened = tokenEvents.impersonated({ ...about, ...impersonation });
      tx.record(accessToken, tx.begin(accessToken, id), [happened], ownedBy(user));
    }
    if (wanted.refreshToken !== undefined) {
      const { value, idleExpiresAt, expiresAt } = wanted.refreshToken;
      const id = newId();
      const digest = await secrets.digest(instanceId, value);
      const row = { instanceId, digest, id, oidcSessionId, isSpent: false };
      tx.write(insertRow(refreshTokens, { ...row, idleExpiresAt, expiresAt }));
      const isRenewed = wanted.spend.some(({ kind }) => kind === "refresh_token");
      const name = isRenewed ? "human.refresh.token.renewed" : "human.refresh.token.added";
      const happened = refreshTokenEvents[name]({
        ...about,
        expirationDate: expiresAt.toISOString(),
      });
      tx.record(refreshToken, tx.begin(refreshToken, id), [happened], ownedBy(user));
    }
  }

  return {
    async issue(at, wanted) {
      let isAgain = false;
      try {
        const editor = wanted.impersonation?.actor.sub ?? wanted.user.id;
        const by = writtenBy(at, editor, wanted.clientId, lineageOf(wanted));
        await events.transact(by, async (tx) => {
          const unit = { sessionId: idOf(wanted), isAgain };
          for (const each of wanted.spend) await spendIn(db, tx, at, each, unit);
          // What stands for itself is checked whenever it is used.
          if (wanted.session !== undefined) await stand(tx, at, wanted, wanted.session, isAgain);
          await store(tx, at, wanted);
          isAgain = true;
        });
        return { outcome: "issued" };
      } catch (error) {
        if (error instanceof AlreadySpent) return { outcome: "spent", by: error.by };
        if (error instanceof Ended) return { outcome: "ended" };
        throw error;
      }
    },

    async spend(at, assertion) {
      let isAgain = false;
      try {
        await events.transact(writtenBy(at, "", ""), async (tx) => {
          await spendIn(db, tx, at, assertion, { sessionId: "", isAgain });
          isAgain = true;
        });
        return true;
      } catch (error) {
        if (error instanceof AlreadySpent) return false;
        throw error;
      }
    },
  };
}

const lineageOf = ({ session }: Issue): Lineage =>
  session === undefined || !("open" in session) ? { ...session } : session.open;

const idOf = ({ session }: Issue): string => {
  if (session === undefined) return "";
  return "open" in session ? session.open.id : session.id;
};

/** Whether the user logged in with an identity provider, as `amr` tells. */
export const isExternal = ({ amr }: Pick<OidcSession, "amr">): boolean => amr.includes("ext");

function open(
  tx: Transaction,
  user: User,
  { open: session, expiresAt }: { open: OidcSession; expiresAt: Date },
  { logoutIssuer, idpId = "" }: { logoutIssuer: string | undefined; idpId: string | undefined },
): void {
  const { id, clientId, userId, sessionId, scope, amr, parents } = session;
  const { authTime, acr, actor, claims, access, audience: references } = session;
  const audience = references.map((each) => each.id);
  const added = oidcSessionEvents.added({
    ...{ clientId, userId, sessionId, scope, audience, references, amr, parents },
    ...(access === undefined ? {} : { access }),
    expirationDate: expiresAt.toISOString(),
    ...(authTime === undefined ? {} : { authTime: authTime.toISOString() }),
    ...(acr === undefined ? {} : { acr }),
    ...(actor === undefined ? {} : { actor }),
    ...(logoutIssuer === undefined ? {} : { logoutIssuer }),
    ...(idpId === "" ? {} : { idpId }),
  });
  const asked =
    claims === undefined
      ? []
      : [oidcSessionEvents["claims.requested"]({ userId, claims: JSON.stringify(claims) })];
  tx.record(oidcSession, tx.begin(oidcSession, id), [added, ...asked], ownedBy(user));
}
