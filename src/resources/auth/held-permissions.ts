import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AuthService,
  type HeldPermissionsSchema,
  PermissionScope,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Permissions, ResourceScope } from "../../authz/permissions.ts";
import { knownPermissions } from "../../authz/roles.ts";
import type { Handlers } from "../../authz/service.ts";
import { type CursorOf, openCursor, sealCursor } from "../../projection/cursor.ts";
import type { Deps } from "../../projection/module.ts";
import { applicableLimit } from "../../projection/search.ts";
import { current } from "../../storage/read-cache.ts";
import { organizationNames } from "../org/index.ts";

type Held = MessageInitShape<typeof HeldPermissionsSchema> & {
  scope: PermissionScope;
  id: string;
  organizationId: string;
};

const names = [...knownPermissions].toSorted();

/**
 * Answers what a call may do, by the same permissions that calls are judged by, with the names of the organization that the caller
 * belongs to and of those in which they hold something: these names need no right to read the organization.
 */
export function heldPermissions(
  deps: Pick<Deps, "db" | "limits" | "organizations" | "secrets">,
): Handlers<typeof AuthService>["getMyPermissions"] {
  const { db, limits, organizations, secrets } = deps;
  const namesOf = current(db, organizationNames(db));
  const nameOf = async (instanceId: string, id: string) =>
    id === "" ? "" : (await namesOf(instanceId, id)).name;

  return async (request, scope) => {
    const { instanceId, permissions } = scope;
    const limit = applicableLimit(request.limit, limits, "limit");
    const list = JSON.stringify(["permissions", scope.context]);
    const cursors: CursorOf = { secrets, instanceId, list };
    const behind =
      request.after === "" ? undefined : await openCursor(cursors, request.after, "after");
    const { caller } = scope;
    const home = caller.kind === "user" ? caller.organizationId : "";
    const who = {
      userId: caller.kind === "user" ? caller.userId : "",
      organizationId: home,
      organizationName: await nameOf(instanceId, home),
      instanceId,
    };
    const result: Held[] = [];
    const begin = behind?.kind === "behind" ? String(behind.position.value) : "";
    const contexts = new Map(contextsOf(scope).map((each) => [placeOf(each), each]));
    for (const [, each] of [...contexts].filter(([place]) => place > begin).toSorted(byPlace)) {
      // A membership outlives its organization for a moment, what it gave does not.
      const { organizationId } = each;
      const isThere =
        organizationId === "" || (await organizations.byId(instanceId, organizationId));
      const held = names.filter((name) => holdsIn(permissions, name, each));
      if (!isThere || held.length === 0) continue;
      // One more than is shown says whether something follows.
      const last = result.at(-1);
      if (last !== undefined && result.length === limit) {
        const next = await sealCursor(cursors, { value: placeOf(last), id: last.id });
        return { ...who, result, next };
      }
      const organizationName = await nameOf(instanceId, organizationId);
      result.push({ ...each, organizationName, permissions: held });
    }
    return { ...who, result };
  };
}

type Context = Pick<Held, "scope" | "id" | "organizationId">;

/** Where the caller may hold something, in the context of the call. */
function contextsOf({ permissions, context }: Scope): Context[] {
  const wide = [
    PermissionScope.SYSTEM,
    PermissionScope.INSTANCE,
    PermissionScope.EVERY_ORGANIZATION,
  ].map((scope) => ({ scope, id: "", organizationId: "" }));
  const narrow = permissions.contexts().map(toContext);
  if (context.type !== "organization") return [...wide, ...narrow];
  // What is held in all organizations, or in something of this one, counts in it.
  const { organizationId } = context;
  const itself = { scope: PermissionScope.ORGANIZATION, id: organizationId, organizationId };
  const within = narrow.filter(
    (each) => each.organizationId === organizationId && each.scope !== PermissionScope.ORGANIZATION,
  );
  return [...wide, itself, ...within];
}

const scopes = {
  organization: PermissionScope.ORGANIZATION,
  project: PermissionScope.PROJECT,
  projectGrant: PermissionScope.PROJECT_GRANT,
};

const toContext = (one: Exclude<ResourceScope, { type: "system" | "instance" }>): Context => ({
  scope: scopes[one.type],
  id: one.id,
  organizationId: one.type === "organization" ? one.id : one.organizationId,
});

const placeOf = ({ scope, id }: Context): string => `${scope} ${id}`;
const byPlace = ([a]: [string, Context], [b]: [string, Context]): number => (a < b ? -1 : 1);

function holdsIn(permissions: Permissions, name: string, { scope, id, organizationId }: Context) {
  switch (scope) {
    case PermissionScope.SYSTEM:
      return permissions.holds(name, { type: "system" });
    case PermissionScope.INSTANCE:
      return permissions.holds(name, { type: "instance" });
    case PermissionScope.ORGANIZATION:
      return permissions.holds(name, { type: "organization", id });
    case PermissionScope.PROJECT:
      return permissions.holds(name, { type: "project", id, organizationId });
    case PermissionScope.PROJECT_GRANT:
      return permissions.holds(name, { type: "projectGrant", id, organizationId });
    default:
      return permissions.reach(name).everywhere;
  }
}
