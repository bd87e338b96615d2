import { aggregate, type Aggregate } from "../../eventstore/aggregate.ts";
import {
  type AnyEvents,
  defineEvents,
  type NewEvent,
  payload,
  type Recorded,
} from "../../eventstore/event.ts";
import { on, type Projection, projection, touch } from "../../projection/projection.ts";
import { deleteRows, putRow, type RowChange } from "../../storage/row-change.ts";
import { instant, int64, table, text } from "../../storage/table.ts";
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

/** What contexts decide on the resources of one kind that they inherit: a row for each that ever decided. */
export type StatePolicies = {
  events: AnyEvents<PolicyEvent>;
  aggregate: Aggregate<StatePolicy, PolicyEvent>;
  table: ReturnType<typeof policyTable>;
  /** Sets the policy of a context; nothing where it is that already. */
  decide(current: StatePolicy, resourceId: string, policy: StatePolicy): PolicyEvent[];
  /** @param endings what ends resources and contexts, by `forgetResource` and `forgetContext` */
  projection(...endings: ReturnType<typeof on>[]): Projection;
  /** What contexts decided on a resource goes with it. */
  forgetResource(event: Recorded): RowChange[];
  /** What a context decided goes with it. */
  forgetContext(event: Recorded): RowChange[];
};

/**
 * Lets contexts decide on what they inherit (E2). The resource itself keeps the policy of the context that it
 * belongs to; nothing is copied when a policy changes.
 *
 * @param prefix of the event `<prefix>.state_policy.set`: the level that inherits, and the kind of resource
 */
export function defineStatePolicies(prefix: string, tableName: string): StatePolicies {
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
    decide: (current, resourceId, policy) =>
      current === policy ? [] : [{ type, payload: { resourceId, policy } }],
    projection: (...endings) =>
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
    forgetResource: ({ instanceId, aggregateId }) => [
      deleteRows(policies, { instanceId, resourceId: aggregateId }),
    ],
    forgetContext: ({ instanceId, aggregateId }) => [
      deleteRows(policies, { instanceId, contextId: aggregateId }),
    ],
  };
}

/** The id of the aggregate that keeps what one context decides on one resource. */
export const policyId = (resourceId: string, contextId: string): string =>
  `${resourceId}.${contextId}`;
