import { objectTable } from "../../projection/objects.ts";
import { begin, on, projection } from "../../projection/projection.ts";
import { deleteRows, putRow, updateRows } from "../../storage/row-change.ts";
import { json, optionalJson, text } from "../../storage/table.ts";
import { appEvents, formerAudiences } from "../app/index.ts";
import { userEvents } from "../user/index.ts";
import { type ConsentedAccess, consentEvents } from "./events.ts";
import { projectsIn } from "./scopes.ts";

/** What people let apps have; the last consent of each to each counts. */
export const consents = objectTable(
  "consents",
  {
    userId: text(),
    /** The organization of the user. */
    organizationId: text(),
    clientId: text(),
    scope: json<string[]>(),
    /** Absent where our own APIs were not asked for, or what answers for the app has changed since. */
    access: optionalJson<ConsentedAccess>(),
  },
  {
    indexes: [
      { columns: ["instanceId", "userId", "clientId"] },
      { columns: ["instanceId", "clientId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

export const consentProjection = projection(
  "consents",
  [consents],
  on(consentEvents, {
    "user.consent.granted": (event) => {
      const { userId, clientId, scope, access } = event.payload;
      return [
        putRow(consents, {
          ...begin(event),
          userId,
          clientId,
          scope,
          organizationId: event.owner.id,
          ...(access === undefined ? {} : { access }),
        }),
      ];
    },
    "user.consent.revoked": ({ instanceId, aggregateId: id }) => [
      deleteRows(consents, { instanceId, id }),
    ],
  }),
  on(appEvents, {
    "project.application.consents.ended": ({ instanceId, payload: { clientId } }) => [
      updateRows(consents, { instanceId, clientId }, { access: null }),
    ],
    "project.application.removed": ({ instanceId, payload: { clientId } }) => [
      deleteRows(consents, { instanceId, clientId }),
    ],
  }),
  on(userEvents, {
    "user.removed": ({ instanceId, aggregateId: userId }) => [
      deleteRows(consents, { instanceId, userId }),
    ],
  }),
);

/** Apps that people of earlier releases let have tokens for a project (decision 0088). */
export const formerConsents = on(consentEvents, {
  "user.consent.granted": ({ instanceId, payload: { clientId, scope, access } }) =>
    access !== undefined
      ? []
      : projectsIn(scope).map((audience) =>
          putRow(formerAudiences, { instanceId, clientId, audience }),
        ),
});
