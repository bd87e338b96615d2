import { begin, on, projection } from "../../projection/projection.ts";
import { insertRow } from "../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../storage/table.ts";
import { instanceMemberEvents } from "./events.ts";

export const memberships = table(
  "memberships",
  {
    instanceId: text(),
    id: text(),
    userId: text(),
    contextType: text(),
    contextId: text(),
    roles: json<string[]>(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  { key: ["instanceId", "id"], indexes: [{ columns: ["instanceId", "userId"] }] },
);

export const membershipProjection = projection(
  "memberships",
  [memberships],
  on(instanceMemberEvents, {
    "instance.member.added": (event) => [
      insertRow(memberships, {
        ...begin(event),
        userId: event.payload.userId,
        contextType: "instance",
        contextId: event.instanceId,
        roles: event.payload.roles,
      }),
    ],
  }),
);
