import { rowWhere } from "../../projection/rows.ts";
import type { EgressClient } from "../../egress/client.ts";
import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { enqueue, handle, type JobHandlers, jobKind } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { on, projection, toReferring } from "../../projection/projection.ts";
import { sessionEvents } from "../../resources/session/index.ts";
import { userEvents } from "../../resources/user/index.ts";
import { asc, isNotNull } from "../../storage/drizzle.ts";
import { deleteRows, putRow, updateRows } from "../../storage/row-change.ts";
import { optionalInstant, table, text } from "../../storage/table.ts";
import { logoutToken } from "../core/logout-token.ts";
import type { At, Ports } from "../core/ports.ts";
import { oidcSessionEvents } from "./events.ts";
import { writtenBy } from "./write.ts";

/**
 * Apps that want to hear when a session ends in which a user logged in there (OpenID Connect Back-Channel Logout 1.0), a
 * row each. A session that just expires ends silently.
 */
export const logoutWishes = table(
  "oidc_logout_wishes",
  {
    instanceId: text(),
    sessionId: text(),
    clientId: text(),
    userId: text(),
    organizationId: text(),
    /** Under which the app knows the instance. */
    issuer: text(),
    endedAt: optionalInstant(),
  },
  {
    key: ["instanceId", "sessionId", "clientId"],
    indexes: [{ columns: ["instanceId", "userId"] }, { columns: ["endedAt"] }],
  },
);

/** That an app will be told, or needs not be. */
export const logoutEvents = defineEvents(
  "oidc_session.logout",
  { announced: payload<{ sessionId: string; clientId: string }>() },
  "oidc_logout",
);
export const logout = aggregate<EventOf<typeof logoutEvents>, null>(logoutEvents, null, () => null);

const endWishesOfUser = toReferring(({ instanceId, aggregateId: userId, createdAt }) => [
  updateRows(logoutWishes, { instanceId, userId }, { endedAt: createdAt }),
]);

export const logoutProjection = projection(
  "oidc_logout_wishes",
  [logoutWishes],
  on(oidcSessionEvents, {
    "oidc_session.added": ({ instanceId, owner, payload: { sessionId, ...of } }) =>
      of.logoutIssuer === undefined || sessionId === ""
        ? []
        : [
            putRow(logoutWishes, {
              instanceId,
              sessionId,
              clientId: of.clientId,
              userId: of.userId,
              organizationId: owner.id,
              issuer: of.logoutIssuer,
            }),
          ],
  }),
  on(sessionEvents, {
    "session.terminated": ({ instanceId, aggregateId: sessionId, createdAt, payload: how }) => [
      how.ending === "expired"
        ? deleteRows(logoutWishes, { instanceId, sessionId })
        : updateRows(logoutWishes, { instanceId, sessionId }, { endedAt: createdAt }),
    ],
  }),
  on(userEvents, {
    "user.deactivated": endWishesOfUser,
    "user.locked": endWishesOfUser,
    "user.removed": endWishesOfUser,
    "user.human.password.changed": endWishesOfUser,
    "user.human.password.removed": endWishesOfUser,
  }),
  on(logoutEvents, {
    "oidc_session.logout.announced": ({ instanceId, payload: { sessionId, clientId } }) => [
      deleteRows(logoutWishes, { instanceId, sessionId, clientId }),
    ],
  }),
);

type Ended = { clientId: string; userId: string; sessionId: string; issuer: string };
const tellLogout = jobKind<Ended>("oidc.logout.tell");
const atOnce = 50;
const everyMs = 500;
const timeoutMs = 10_000;

/** Turns ended sessions into jobs, one for each app that wants to know. */
export async function announceLogouts({
  db,
  events,
  newId,
}: Pick<Deps, "db" | "events" | "newId">): Promise<number> {
  const t = db.table(logoutWishes);
  const due = await db.read
    .select()
    .from(t)
    .where(isNotNull(t.endedAt))
    .orderBy(asc(t.endedAt))
    .limit(atOnce);
  for (const { instanceId, sessionId, clientId, userId, organizationId, issuer } of due) {
    const key = { instanceId, sessionId, clientId };
    await events.transact(
      writtenBy({ instanceId, issuer, requestId: "" }, "", clientId),
      async (tx) => {
        // Another replica was quicker.
        if ((await rowWhere(db, logoutWishes, key)) === undefined) return;
        tx.expectRows(logoutWishes, key, 1);
        const loaded = tx.begin(logout, newId());
        const owner = { type: "org", id: organizationId } as const;
        tx.record(logout, loaded, [logoutEvents.announced({ sessionId, clientId })], owner);
        const job = { instanceId, id: newId(), now: tx.now };
        tx.write(enqueue(tellLogout, job, { clientId, userId, sessionId, issuer }));
      },
    );
  }
  return due.length;
}

/** Looks for ended sessions, until disposed. Any number of replicas may do it. */
export function startLogouts(
  deps: Pick<Deps, "db" | "events" | "newId">,
  onError: (error: unknown) => void,
): AsyncDisposable {
  let passing: Promise<unknown> | undefined;
  const pass = () => {
    passing ??= announceLogouts(deps)
      .catch(onError)
      .finally(() => (passing = undefined));
  };
  const timer = setInterval(pass, everyMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await passing;
    },
  };
}

export type LogoutPorts = {
  /** The guarded way out (X13). */
  egress: Pick<EgressClient, "call">;
};

/** Posts logout tokens to apps. What fails is tried again later; an app that is gone, or wants nothing more, is done. */
export const logoutJobs = (
  ports: Pick<Ports, "clients" | "keys" | "now" | "newId">,
  { egress }: LogoutPorts,
): JobHandlers =>
  handle(tellLogout, async ({ instanceId, payload: of, signal, id }) => {
    const at: At = { instanceId, issuer: of.issuer, requestId: id };
    const client = await ports.clients.byId(at, of.clientId);
    if (client === undefined || client.backChannelLogoutUri === "") return "done";
    const token = await logoutToken(ports, at, { ...of, alg: client.idTokenAlg });
    const { status } = await egress.call({
      method: "POST",
      url: client.backChannelLogoutUri,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ logout_token: token }).toString(),
      timeoutMs,
      signal,
    });
    if (status >= 200 && status < 300) return "done";
    throw new Error(`the app answered a logout token with ${status}`);
  });
