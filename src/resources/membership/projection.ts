import { type AnyEvents, eventTypes, type Recorded } from "../../eventstore/event.ts";
import { begin, on, projection, touch } from "../../projection/projection.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, instant, int64, json, table, text } from "../../storage/table.ts";
import {
  grantMemberEvents,
  instanceMemberEvents,
  type Member,
  organizationMemberEvents,
  projectMemberEvents,
  systemMemberEvents,
} from "./events.ts";

export const memberships = table(
  "memberships",
  {
    instanceId: text(),
    id: text(),
    userId: text(),
    contextType: text(),
    contextId: text(),
    /** Empty above organizations. */
    organizationId: text(),
    /** Empty above projects. */
    projectId: text(),
    roles: json<string[]>(),
    isAccepted: bool(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "userId"] },
      { columns: ["instanceId", "contextType", "contextId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

type ContextColumns = {
  contextType: string;
  contextId: string;
  organizationId: string;
  projectId: string;
};

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

// The four facts are the same for every kind of context; only where the roles count differs.
// oxlint-disable-next-line no-unnecessary-type-parameters -- what a member of the context carries is its caller's to say.
function lifeOf<M extends Member>(
  prefix: string,
  events: AnyEvents,
  columnsOf: (member: M, event: Recorded) => ContextColumns,
) {
  const remove = (event: Recorded) => [deleteRows(memberships, row(event))];
  const accepted = `${prefix}.accepted`;
  const accept = (event: Recorded) => [
    updateRows(memberships, row(event), { isAccepted: true, ...touch(event) }),
  ];
  return on(events, {
    ...(eventTypes(events).includes(accepted) ? { [accepted]: accept } : {}),
    [`${prefix}.added`]: (event: Recorded) => {
      const member = event.payload as M;
      const { userId, roles, isPending } = member;
      const isAccepted = isPending !== true;
      return [
        insertRow(memberships, {
          ...begin(event),
          ...{ userId, roles, isAccepted },
          ...columnsOf(member, event),
        }),
      ];
    },
    [`${prefix}.changed`]: (event: Recorded) => {
      const { roles } = event.payload as { roles: string[] };
      return [updateRows(memberships, row(event), { roles, ...touch(event) })];
    },
    [`${prefix}.removed`]: remove,
    [`${prefix}.cascade.removed`]: remove,
  });
}

const nowhere = { organizationId: "", projectId: "" };

export const membershipProjection = projection(
  "memberships",
  [memberships],
  lifeOf("system.member", systemMemberEvents, () => ({
    ...nowhere,
    contextType: "system",
    contextId: "",
  })),
  lifeOf("instance.member", instanceMemberEvents, (_, { instanceId }) => ({
    ...nowhere,
    contextType: "instance",
    contextId: instanceId,
  })),
  lifeOf<Member & { organizationId: string }>(
    "org.member",
    organizationMemberEvents,
    ({ organizationId }) => ({
      contextType: "organization",
      contextId: organizationId,
      organizationId,
      projectId: "",
    }),
  ),
  lifeOf<Member & { organizationId: string; projectId: string }>(
    "project.member",
    projectMemberEvents,
    ({ organizationId, projectId }) => ({
      contextType: "project",
      contextId: projectId,
      organizationId,
      projectId,
    }),
  ),
  lifeOf<Member & { organizationId: string; projectId: string; grantId: string }>(
    "project.grant.member",
    grantMemberEvents,
    ({ organizationId, projectId, grantId }) => ({
      contextType: "projectGrant",
      contextId: grantId,
      organizationId,
      projectId,
    }),
  ),
);
