import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ChangeSchema } from "#gen/idsvc/management/v1/change_pb.ts";
import type { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import type { Handlers } from "../authz/service.ts";
import { organizationOf } from "../authz/tenancy.ts";
import { invalidField } from "../errors.ts";
import type { Deps } from "../projection/module.ts";
import { eventFormatter } from "../resources/history/event-formatter.ts";
import { position } from "../resources/history/log-reader.ts";
import { retentionReader } from "../resources/instance/index.ts";

import { profileReader, userNamesReader } from "../resources/user/index.ts";
import { and, asc, desc, eq, gt, gte, inArray, lt, or } from "../storage/drizzle.ts";
import { events as log } from "../storage/kernel-tables.ts";
import { current } from "../storage/read-cache.ts";
import { textIn } from "./convert.ts";

const grantType = "project_grant";
const memberType = "membership";
const memberAdded = "project.grant.member.added";

/**
 * The history of a project grant and of its members (G2): below a position, newest first, or above it, oldest
 * first; as far back as audit log retention keeps it. Who may read the grant may read it, also once the grant is removed;
 * it is a grant of, or to, the organization of the call, which is the caller's own unless they name another.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND
 * @throws INVALID_ARGUMENT HISTORY_LIMIT_EXCEEDED, CONTEXT_INVALID
 */
export function listProjectGrantChanges(
  deps: Deps,
): Handlers<typeof ManagementService>["listProjectGrantChanges"] {
  const { db, events, limits, now } = deps;
  const t = db.table(log);
  const { tenancy, projectGrants } = deps;
  const retention = current(db, retentionReader(db));
  const names = userNamesReader(db);
  const profiles = profileReader(db);
  const formatterFor = eventFormatter(db);

  async function editorOf(instanceId: string, editorId: string) {
    const found = await names.of(instanceId, editorId);
    const picture = (await profiles(instanceId, editorId))?.data["picture"];
    return {
      editorId,
      editorDisplayName: found?.displayName ?? editorId,
      editorPreferredLoginName: found?.loginName ?? "",
      editorAvatarUrl: typeof picture === "string" ? picture : "",
    };
  }

  return async ({ projectId, grantId, query }, scope) => {
    const { instanceId } = scope;
    const organizationId = organizationOf(scope);
    const limit = query?.limit ?? 0;
    if (limit > limits.historyMax) {
      const description = `must not exceed ${limits.historyMax}`;
      throw invalidField("query.limit", "HISTORY_LIMIT_EXCEEDED", description);
    }
    await db.catchUp();
    const grant = await grantOf(events, instanceId, grantId);
    const owned = grant?.projectId === projectId ? grant : undefined;
    await tenancy.require(scope, owned, projectGrants.missing);
    const parties = [owned?.organizationId, owned?.grants[0]?.organizationId];
    if (!parties.includes(organizationId)) throw projectGrants.missing();
    const { sequence = 0n, asc: isAscending = false } = query ?? {};
    const keptMs = await retention("", instanceId);
    const members = await membersOf(events, instanceId, grantId);
    const isOfGrant = and(eq(t.aggregateType, grantType), eq(t.aggregateId, grantId));
    const isOfMember = and(eq(t.aggregateType, memberType), inArray(t.aggregateId, members));
    const rows = await db.read
      .select()
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          members.length === 0 ? isOfGrant : or(isOfGrant, isOfMember),
          sequence === 0n ? undefined : (isAscending ? gt : lt)(t.sequence, position(sequence)),
          keptMs === undefined ? undefined : gte(t.createdAt, new Date(now().getTime() - keptMs)),
        ),
      )
      .orderBy((isAscending ? asc : desc)(t.sequence))
      .limit(limit === 0 ? limits.historyDefault : limit);
    const editors = new Map<string, Awaited<ReturnType<typeof editorOf>>>();
    for (const { editorId } of rows) {
      if (!editors.has(editorId)) editors.set(editorId, await editorOf(instanceId, editorId));
    }
    const format = await formatterFor(scope);
    const result = rows.map(
      (row): MessageInitShape<typeof ChangeSchema> => ({
        changeDate: timestampFromDate(row.createdAt),
        eventType: {
          key: row.type,
          localizedMessage: format(row.type),
        },
        sequence: row.sequence,
        resourceOwnerId: row.ownerId,
        ...editors.get(row.editorId),
      }),
    );
    return { result };
  };
}

/** The grant as it was made: what it belongs to never changes. */
async function grantOf(events: Deps["events"], instanceId: string, id: string) {
  const aggregate = { type: grantType, id };
  const [added] = await events.read({ instanceId, aggregate, limit: 1 });
  return added === undefined
    ? undefined
    : {
        organizationId: added.owner.id,
        projectId: textIn(added.payload, "projectId"),
        grants: [{ id, organizationId: textIn(added.payload, "grantedOrganizationId") }],
      };
}

/** The memberships that the grant has or had. */
async function membersOf(
  events: Deps["events"],
  instanceId: string,
  grantId: string,
): Promise<string[]> {
  const added = await events.read({ instanceId, types: [memberAdded] });
  return added
    .filter(({ payload }) => textIn(payload, "grantId") === grantId)
    .map(({ aggregateId }) => aggregateId);
}
