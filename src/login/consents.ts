import { createHash } from "node:crypto";
import { aggregate } from "../eventstore/aggregate.ts";
import { defineEvents, type EventOf, payload } from "../eventstore/event.ts";
import type { WriteContext } from "../eventstore/transaction.ts";
import type { AuthorizationRequest, User } from "../oidc/core/ports.ts";
import { on, projection } from "../projection/projection.ts";
import { projectGrantReader } from "../resources/grant/index.ts";
import { requireUser, userEvents } from "../resources/user/index.ts";
import { and, eq } from "../storage/drizzle.ts";
import { deleteRows, putRow } from "../storage/row-change.ts";
import { json, table, text } from "../storage/table.ts";
import type { LoginPorts } from "./ports.ts";

/** Facts about what people let apps of other organizations have. */
export const consentEvents = defineEvents(
  "user",
  { "consent.granted": payload<{ userId: string; clientId: string; scope: string[] }>() },
  "consent",
);

type ConsentEvent = EventOf<typeof consentEvents>;

/** The scopes that a user let a client have; the last consent counts. */
export const consentRows = table(
  "consents",
  { instanceId: text(), userId: text(), clientId: text(), scope: json<string[]>() },
  { key: ["instanceId", "userId", "clientId"] },
);

export const consentProjection = projection(
  "consents",
  [consentRows],
  on(consentEvents, {
    "user.consent.granted": ({ instanceId, payload: { userId, clientId, scope } }) => [
      putRow(consentRows, { instanceId, userId, clientId, scope }),
    ],
  }),
  on(userEvents, {
    "user.removed": ({ instanceId, aggregateId: userId }) => [
      deleteRows(consentRows, { instanceId, userId }),
    ],
  }),
);

export const consent = aggregate(
  consentEvents,
  [] as readonly string[],
  (_, { payload: { scope } }: ConsentEvent) => scope,
);

export type Consents = {
  /**
   * Whether the user must be asked: an app of another organization wants what he has not let it have, and his organization
   * was not granted its project.
   */
  isDue(instanceId: string, user: User, request: AuthorizationRequest): Promise<boolean>;
  give(at: WriteContext, user: User, request: AuthorizationRequest): Promise<void>;
};

export function createConsents(parts: LoginPorts): Consents {
  const { db, events, appOf } = parts;
  const t = db.table(consentRows);
  const grants = projectGrantReader(db);
  return {
    async isDue(instanceId, user, { clientId, scope }) {
      const app = await appOf(instanceId, clientId);
      if (app === undefined || app.organizationId === user.organizationId) return false;
      await db.catchUp();
      const granted = await grants.ofProject(instanceId, app.projectId);
      const isGranted = granted.some(
        ({ state, grantedOrganizationId }) =>
          state === "active" && grantedOrganizationId === user.organizationId,
      );
      if (isGranted) return false;
      const [row] = await db.read
        .select({ scope: t.scope })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.userId, user.id), eq(t.clientId, clientId)));
      return row === undefined || !scope.every((word) => row.scope.includes(word));
    },

    async give(at, user, { clientId, scope }) {
      const id = createHash("sha256").update(`${user.id}\n${clientId}`).digest("base64url");
      await events.transact(at, async (tx) => {
        // Who is gone by now leaves no consent behind.
        await requireUser(tx, user.id);
        const loaded = await tx.load(consent, id);
        const given = { userId: user.id, clientId, scope: [...scope] };
        const owner = { type: "org", id: user.organizationId } as const;
        tx.record(consent, loaded, [consentEvents["consent.granted"](given)], owner);
      });
    },
  };
}
