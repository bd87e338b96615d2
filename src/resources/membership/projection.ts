import type { MemberContext } from "../../authz/permissions.ts";
import type { AnyEvents, Recorded } from "../../eventstore/event.ts";
import { objectRows, objectTable } from "../../projection/objects.ts";
import { on, projection } from "../../projection/projection.ts";
import { bool, json, text } from "../../storage/table.ts";
import { type Member, memberEvents } from "./events.ts";
import { columnsOf, contextFrom, type ContextIds } from "./member-context.ts";

export const memberships = objectTable(
  "memberships",
  {
    userId: text(),
    contextType: text(),
    contextId: text(),
    /** Empty above organizations. */
    organizationId: text(),
    /** Empty above projects. */
    projectId: text(),
    roles: json<string[]>(),
    isAccepted: bool(),
  },
  {
    indexes: [
      { columns: ["instanceId", "userId"] },
      { columns: ["instanceId", "contextType", "contextId", "creationDate", "id"] },
      { columns: ["instanceId", "organizationId", "creationDate", "id"] },
      { columns: ["instanceId", "organizationId", "contextId", "userId"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "changeDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

const { add, change, remove } = objectRows(memberships);

// What happens is the same in every kind of context; members of some are never awaited.
function lifeIn(type: MemberContext["type"], prefix: string) {
  const events: AnyEvents = memberEvents[type];
  return on(events, {
    [`${prefix}.added`]: (event: Recorded) => {
      const { userId, roles, isPending, ...ids } = event.payload as Member & ContextIds;
      const columns = columnsOf(contextFrom(type, ids), event.instanceId);
      return add(event, { userId, roles, isAccepted: isPending !== true, ...columns });
    },
    [`${prefix}.changed`]: (event: Recorded) => change(event, event.payload as { roles: string[] }),
    ...("accepted" in events && {
      [`${prefix}.accepted`]: (event: Recorded) => change(event, { isAccepted: true }),
    }),
    [`${prefix}.removed`]: remove,
    [`${prefix}.cascade.removed`]: remove,
  });
}

export const membershipProjection = projection(
  "memberships",
  [memberships],
  lifeIn("system", "system.member"),
  lifeIn("instance", "instance.member"),
  lifeIn("organization", "org.member"),
  lifeIn("project", "project.member"),
  lifeIn("projectGrant", "project.grant.member"),
);
