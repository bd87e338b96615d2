import { objectTable } from "../../projection/objects.ts";
import { begin, on, projection, type Reactions } from "../../projection/projection.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { json, optionalJson, text } from "../../storage/table.ts";
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

const reactions: readonly Reactions[] = [
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
  on(userEvents, {
    "user.removed": ({ instanceId, aggregateId: userId }) => [
      deleteRows(consents, { instanceId, userId }),
    ],
  }),
];

/** @param endings what ends consents beside what is done to them and their users */
export const consentProjection = (endings: Reactions) =>
  projection("consents", [consents], ...reactions, endings);

type OfApp = { instanceId: string; payload: { clientId: string } };

/** What people let an app have ends with it. */
export const forgetApp = ({ instanceId, payload: { clientId } }: OfApp): RowChange[] => [
  deleteRows(consents, { instanceId, clientId }),
];

/** Takes from an app what people let it do at our own APIs; they are asked again. */
export const takeApiAccess = ({ instanceId, payload: { clientId } }: OfApp): RowChange[] => [
  updateRows(consents, { instanceId, clientId }, { access: null }),
];

/**
 * Apps that people of earlier releases let have tokens for a project (decision 0088).
 * @param keep keeps that an app had tokens for an audience
 */
export const formerConsents = (
  keep: (former: { instanceId: string; clientId: string; audience: string }) => RowChange,
): Reactions =>
  on(consentEvents, {
    "user.consent.granted": ({ instanceId, payload: { clientId, scope, access } }) =>
      access !== undefined
        ? []
        : projectsIn(scope).map((audience) => keep({ instanceId, clientId, audience })),
  });
