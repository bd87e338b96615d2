import { on, projection, type Reactions, toReferring } from "../../projection/projection.ts";
import { organizationEvents } from "../../resources/org/index.ts";
import { sessionEvents } from "../../resources/session/index.ts";
import { userEvents } from "../../resources/user/index.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { consentParent, consentsParent } from "../core/api-power.ts";
import { projectsIn } from "../core/scope.ts";
import { type OidcSessionAdded, oidcSessionEvents, tokenEvents } from "./events.ts";
import { oidcLineage, oidcSessions, onlyPart } from "./tables.ts";

/** Ends what descends from it. */
const endDescendants = (instanceId: string, parentId: string): RowChange =>
  deleteRows(oidcLineage, { instanceId, parentId });

const endThoseOfUser = toReferring(({ instanceId, aggregateId: userId }) => [
  deleteRows(oidcSessions, { instanceId, userId }),
  endDescendants(instanceId, userId),
]);

// Only what came of a login: other tokens of the user stand on other proofs.
const endLoginsOfUser = toReferring(({ instanceId, aggregateId: userId }) => [
  deleteRows(oidcSessions, { instanceId, userId, isLogin: true }),
  deleteRows(oidcLineage, { instanceId, userId }),
]);

function standsOnConsent({ references, access, scope }: OidcSessionAdded): boolean {
  // Of earlier releases: what asked for a project's tokens may have been our own.
  if (references === undefined) return projectsIn(scope).length > 0;
  return access !== undefined && !(access.kind === "given" && access.trusted);
}

/**
 * Whom tokens of earlier releases were for (decision 0088).
 * @param keep keeps that an app had tokens for an audience
 */
export const formerTokens = (
  keep: (former: { instanceId: string; clientId: string; audience: string }) => RowChange,
): Reactions =>
  on(oidcSessionEvents, {
    "oidc_session.added": ({ instanceId, payload: { clientId, audience, references } }) =>
      references !== undefined
        ? []
        : audience.map((each) => keep({ instanceId, clientId, audience: each })),
  });

/** Ends what a user let an app have. */
export const endOfConsent = ({
  instanceId,
  payload: { clientId, userId },
}: {
  instanceId: string;
  payload: { clientId: string; userId: string };
}): RowChange[] => [
  deleteRows(oidcSessions, { instanceId, userId, clientId }),
  endDescendants(instanceId, consentParent(clientId, userId)),
];

type OfApp = { instanceId: string; payload: { clientId: string } };

/** Ends what an app has that is no more. */
export const endOfApp = ({ instanceId, payload: { clientId } }: OfApp): RowChange[] => [
  deleteRows(oidcSessions, { instanceId, clientId }),
];

/** Ends what an app has of all that users let it do at our own APIs. */
export const endOfApiConsents = ({ instanceId, payload: { clientId } }: OfApp): RowChange[] => [
  deleteRows(oidcSessions, { instanceId, clientId, hasApiConsent: true }),
  endDescendants(instanceId, consentsParent(clientId)),
];

const reactions: readonly Reactions[] = [
  on(oidcSessionEvents, {
    "oidc_session.added": ({ instanceId, aggregateId: id, owner, payload }) => {
      const { authTime, actor, parents, expirationDate, logoutIssuer: _, ...rest } = payload;
      const { idpId = "", references, access, ...same } = rest;
      return [
        insertRow(oidcSessions, {
          instanceId,
          id,
          part: onlyPart,
          ...same,
          scope: [...same.scope],
          audience: [...(references ?? same.audience)],
          ...(access === undefined ? {} : { access }),
          hasApiConsent: standsOnConsent(payload),
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
    "user.human.password.changed": endLoginsOfUser,
    "user.human.password.removed": endLoginsOfUser,
    "user.sessions.ended": endThoseOfUser,
  }),
  on(organizationEvents, {
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      deleteRows(oidcSessions, { instanceId, organizationId }),
    ],
  }),
];

/**
 * In the unit of what ends them: however many there are, none outlives it.
 * @param endings what else ends them
 */
export const oidcSessionProjection = (...endings: Reactions[]) =>
  projection("oidc_sessions", [oidcSessions, oidcLineage], ...reactions, ...endings);
