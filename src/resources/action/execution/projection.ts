import { begin, on, projection } from "../../../projection/projection.ts";
import { deleteRows, putRow } from "../../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../../storage/table.ts";
import type { Condition } from "./condition.ts";
import { executionEvents } from "./events.ts";

export const executions = table(
  "executions",
  {
    instanceId: text(),
    id: text(),
    type: text(),
    condition: json<Condition>(),
    targets: json<string[]>(),
    includes: json<string[]>(),
    sequence: int64(),
    /** Of the event that made it: what happened before does not concern it. */
    creationSequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "creationDate", "id"] }],
    countedBy: "instanceId",
  },
);

/** Which executions list a target. */
export const executionTargets = table(
  "execution_targets",
  { instanceId: text(), executionId: text(), targetId: text() },
  {
    key: ["instanceId", "executionId", "targetId"],
    indexes: [{ columns: ["instanceId", "targetId"] }],
  },
);

/** Which executions include another. */
export const executionIncludes = table(
  "execution_includes",
  { instanceId: text(), executionId: text(), includeId: text() },
  {
    key: ["instanceId", "executionId", "includeId"],
    indexes: [{ columns: ["instanceId", "includeId"] }],
  },
);

type Event = { instanceId: string; aggregateId: string };
const ofExecution = ({ instanceId, aggregateId }: Event) => ({
  instanceId,
  executionId: aggregateId,
});
const clearLists = (event: Event) => [
  deleteRows(executionTargets, ofExecution(event)),
  deleteRows(executionIncludes, ofExecution(event)),
];

export const executionProjection = projection(
  "executions",
  [executions, executionTargets, executionIncludes],
  on(executionEvents, {
    "execution.set": (event) => [
      putRow(
        executions,
        {
          ...begin(event),
          ...event.payload,
          type: event.payload.condition.type,
          creationSequence: event.sequence,
        },
        ["creationDate", "creationSequence"],
      ),
      ...clearLists(event),
      ...event.payload.targets.map((targetId) =>
        putRow(executionTargets, { ...ofExecution(event), targetId }),
      ),
      ...event.payload.includes.map((includeId) =>
        putRow(executionIncludes, { ...ofExecution(event), includeId }),
      ),
    ],
    "execution.removed": (event) => [
      deleteRows(executions, { instanceId: event.instanceId, id: event.aggregateId }),
      ...clearLists(event),
    ],
  }),
);
