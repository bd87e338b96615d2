import type { Recorded } from "../../eventstore/event.ts";
import { on, projection } from "../../projection/projection.ts";
import { appEvents } from "../../resources/app/index.ts";
import { organizationEvents } from "../../resources/org/index.ts";
import { sessionEvents } from "../../resources/session/index.ts";
import { userEvents } from "../../resources/user/index.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { oidcSessionEvents, tokenEvents } from "./events.ts";
import { oidcLineage, oidcSessions, onlyPart } from "./tables.ts";

type Event = Pick<Recorded, "instanceId" | "aggregateId">;

/** Ends what descends from it. */
const endDescendants = (instanceId: string, parentId: string): RowChange =>
  deleteRows(oidcLineage, { instanceId, parentId });

const endThoseOfUser = ({ instanceId, aggregateId: userId }: Event) => [
  deleteRows(oidcSessions, { instanceId, userId }),
  endDescendants(instanceId, userId),
];

// Only what came of a login: other tokens of his stand on other proofs.
const endHisLogins = ({ instanceId, aggregateId: userId }: Event) => [
  deleteRows(oidcSessions, { instanceId, userId, isLogin: true }),
  deleteRows(oidcLineage, { instanceId, userId }),
];

/** In the unit of what ends them: however many there are, none outlives it. */
export const oidcSessionProjection = projection(
  "oidc_sessions",
  [oidcSessions, oidcLineage],
  on(oidcSessionEvents, {
    "oidc_session.added": ({ instanceId, aggregateId: id, owner, payload }) => {
      const { authTime, actor, parents, expirationDate, logoutIssuer: _, ...rest } = payload;
      const { idpId = "", ...same } = rest;
      return [
        insertRow(oidcSessions, {
          ...{ instanceId, id, part: onlyPart },
          ...same,
          scope: [...same.scope],
          audience: [...same.audience],
          amr: [...same.amr],
          parents: [...parents],
          organizationId: owner.id,
          idpId,
          isLogin: same.sessionId !== "",
          expiresAt: new Date(expirationDate),
          ...(authTime === undefined ? {} : { authTime: new Date(authTime) }),
          ...(actor === undefined ? {} : { actor }),
        }),
        ...parents.map(({ id: parentId, userId }) =>
          insertRow(oidcLineage, {
            instanceId,
            oidcSessionId: id,
            parentId,
            part: onlyPart,
            userId,
          }),
        ),
      ];
    },
    "oidc_session.claims.requested": ({ instanceId, aggregateId: id, payload }) => [
      updateRows(oidcSessions, { instanceId, id, part: onlyPart }, { claims: payload.claims }),
    ],
    "oidc_session.terminated": ({ instanceId, aggregateId: id, payload }) => {
      const isOver = payload.reason === "expired";
      const row = isOver ? { instanceId, id, part: onlyPart } : { instanceId, id };
      const own = { instanceId, oidcSessionId: id, part: onlyPart };
      return [
        deleteRows(oidcSessions, row),
        deleteRows(oidcLineage, own),
        // Whoever came from it lives on when it just expires.
        ...(isOver ? [] : [endDescendants(instanceId, id)]),
      ];
    },
  }),
  on(tokenEvents, {
    "user.token.removed": ({ instanceId, aggregateId }) => [
      endDescendants(instanceId, aggregateId),
    ],
  }),
  on(sessionEvents, {
    "session.terminated": ({ instanceId, aggregateId: sessionId, payload }) =>
      payload.ending === "expired"
        ? []
        : [
            deleteRows(oidcSessions, { instanceId, sessionId }),
            endDescendants(instanceId, sessionId),
          ],
  }),
  on(userEvents, {
    "user.deactivated": endThoseOfUser,
    "user.locked": endThoseOfUser,
    "user.removed": endThoseOfUser,
    "user.human.password.changed": endHisLogins,
    "user.human.password.removed": endHisLogins,
    "user.sessions.ended": endHisLogins,
  }),
  on(appEvents, {
    "project.application.removed": ({ instanceId, payload: { clientId } }) => [
      deleteRows(oidcSessions, { instanceId, clientId }),
    ],
  }),
  on(organizationEvents, {
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      deleteRows(oidcSessions, { instanceId, organizationId }),
    ],
  }),
);
