import { aggregate } from "../../../eventstore/aggregate.ts";
import {
  type AnyEvents,
  defineEvents,
  type NewEvent,
  payload,
  type Recorded,
} from "../../../eventstore/event.ts";
import { on, type Projection, projection, touch } from "../../../projection/projection.ts";
import { deleteRows, putRow, type RowChange } from "../../../storage/row-change.ts";
import { instant, int64, table, text } from "../../../storage/table.ts";
import type { StatePolicy } from "./state.ts";

type PolicySet = { resourceId: string; policy: StatePolicy };
export type PolicyEvent = NewEvent<string, PolicySet>;

const policyTable = (name: string) =>
  table(
    name,
    {
      instanceId: text(),
      resourceId: text(),
      contextId: text(),
      policy: text(),
      sequence: int64(),
      changeDate: instant(),
    },
    {
      key: ["instanceId", "resourceId", "contextId"],
      indexes: [{ columns: ["instanceId", "contextId"] }],
    },
  );

/**
 * Lets contexts decide on what they inherit (E2). The resource itself keeps the policy of the context that it
 * belongs to; nothing is copied when a policy changes.
 *
 * @param prefix of the event `<prefix>.state_policy.set`: the level that inherits, and the kind of resource
 */
export function defineStatePolicies(prefix: string, tableName: string) {
  const type = `${prefix}.state_policy.set`;
  const events: AnyEvents<PolicyEvent> = defineEvents(
    prefix,
    { "state_policy.set": payload<PolicySet>() },
    `${prefix}.state_policy`,
  );
  const policies = policyTable(tableName);
  const undecided = "inherit" as StatePolicy;
  return {
    events,
    aggregate: aggregate(events, undecided, (_, event) => event.payload.policy),
    table: policies,
    /** Sets the policy of a context; nothing where it is that already. */
    decide: (current: StatePolicy, resourceId: string, policy: StatePolicy): PolicyEvent[] =>
      current === policy ? [] : [{ type, payload: { resourceId, policy } }],
    /** @param endings what ends resources and contexts, by `forgetResource` and `forgetContext` */
    projection: (...endings: ReturnType<typeof on>[]): Projection =>
      projection(
        tableName,
        [policies],
        on(events, {
          [type]: (event: Recorded<PolicyEvent>) => [
            putRow(policies, {
              instanceId: event.instanceId,
              ...event.payload,
              contextId: event.owner.id,
              ...touch(event),
            }),
          ],
        }),
        ...endings,
      ),
    /** What contexts decided on a resource goes with it. */
    forgetResource: ({ instanceId, aggregateId }: Recorded): RowChange[] => [
      deleteRows(policies, { instanceId, resourceId: aggregateId }),
    ],
    /** What a context decided goes with it. */
    forgetContext: ({ instanceId, aggregateId }: Recorded): RowChange[] => [
      deleteRows(policies, { instanceId, contextId: aggregateId }),
    ],
  };
}

/** What contexts decide on the resources of one kind that they inherit: a row for each that ever decided. */
export type StatePolicies = ReturnType<typeof defineStatePolicies>;

/** The id of the aggregate that keeps what one context decides on one resource. */
export const policyId = (resourceId: string, contextId: string): string =>
  `${resourceId}.${contextId}`;
