import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { sessionById, sessions } from "../../resources/session/index.ts";
import { users } from "../../resources/user/index.ts";
import type { At, Issue, OidcSession, Ports, User } from "../core/ports.ts";
import { oidcSession, oidcSessionEvents } from "./events.ts";
import { hasRow } from "./spend.ts";
import { oidcSessions } from "./tables.ts";
import { ownedBy } from "./write.ts";

/** Thrown out of a decision when what it was for has ended. */
export class Ended extends Error {}

/** Who is issued something, and in which session. */
type Holder = Pick<Issue, "user" | "clientId"> & { session: NonNullable<Issue["session"]> };

/** Requires that the session that something is issued in stands when the unit commits, or opens it there. @throws Ended */
export function issueSession(
  db: Deps["db"],
  clients: Pick<Ports["clients"], "byId">,
  allowsImpersonation: Deps["policies"]["allowsImpersonation"],
): (tx: Transaction, at: At, holder: Holder, isAgain: boolean) => Promise<void> {
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

  return async (tx, at, { user, clientId, session }, isAgain) => {
    const { instanceId } = at;
    const { actor } = "open" in session ? session.open : session;
    if (actor !== undefined) {
      const client = await clients.byId(at, clientId);
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
    const client = await clients.byId(at, session.open.clientId);
    const idpId = isExternal(session.open)
      ? (await sessionOf(instanceId, sessionId))?.idpId
      : undefined;
    const tells = client !== undefined && client.backChannelLogoutUri !== "";
    open(tx, user, session, { logoutIssuer: tells ? at.issuer : undefined, idpId });
  };
}

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
    clientId,
    userId,
    sessionId,
    scope,
    audience,
    references,
    amr,
    parents,
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
