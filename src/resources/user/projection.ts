import { begin, on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import { instant, int64, optionalText, table, text } from "../../storage/table.ts";
import { userEvents } from "./events.ts";

export const users = table(
  "users",
  {
    instanceId: text(),
    id: text(),
    organizationId: text(),
    type: text(),
    state: text(),
    username: text(),
    usernameFolded: text(),
    displayName: text(),
    email: optionalText(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "organizationId", "usernameFolded"] }],
    countedBy: "instanceId",
  },
);

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

export const userProjection = projection(
  "users",
  [users],
  on(userEvents, {
    "user.human.added": (event) => [
      insertRow(users, {
        ...begin(event),
        organizationId: event.payload.organizationId,
        type: "human",
        state: "active",
        username: event.payload.username,
        usernameFolded: caseFold(event.payload.username),
        displayName: event.payload.displayName,
        email: event.payload.email,
      }),
    ],
    "user.machine.added": (event) => [
      insertRow(users, {
        ...begin(event),
        organizationId: event.payload.organizationId,
        type: "machine",
        state: "active",
        username: event.payload.username,
        usernameFolded: caseFold(event.payload.username),
        displayName: event.payload.name,
      }),
    ],
    "user.human.password.changed": (event) => [updateRows(users, row(event), touch(event))],
    "user.pat.added": (event) => [updateRows(users, row(event), touch(event))],
  }),
);
