import { begin, on, projection, touch } from "../../../projection/projection.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../../storage/row-change.ts";
import { bool, instant, int, int64, table, text } from "../../../storage/table.ts";
import { targetEvents } from "./events.ts";

export const targets = table(
  "targets",
  {
    instanceId: text(),
    id: text(),
    name: text(),
    nameFolded: text(),
    kind: text(),
    url: text(),
    timeoutMs: int(),
    isAsync: bool(),
    interruptOnError: bool(),
    payloadSecrets: bool(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "name", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

export const targetProjection = projection(
  "targets",
  [targets],
  on(targetEvents, {
    "target.added": (event) => [
      insertRow(targets, {
        ...begin(event),
        ...event.payload,
        payloadSecrets: event.payload.payloadSecrets ?? false,
        nameFolded: caseFold(event.payload.name),
      }),
    ],
    "target.changed": (event) => {
      const { signingKeyRotated: _, ...changes } = event.payload;
      const folded = changes.name === undefined ? {} : { nameFolded: caseFold(changes.name) };
      return [updateRows(targets, row(event), { ...changes, ...folded, ...touch(event) })];
    },
    "target.removed": (event) => [deleteRows(targets, row(event))],
  }),
);
