import type { JsonObject } from "@bufbuild/protobuf";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import type { May, Place, Rights } from "../rights-of.ts";
import { type Kind, textAt } from "./declare.ts";
import { type MemberContext, memberPermission } from "./member-permission.ts";
import { objectsAt } from "./schema.ts";

const { listAvailableRoles, searchMemberships } = MembershipService.method;

/** A context whose roles count for an object, and what asks for them. */
export type Above = {
  context: MemberContext;
  roles: JsonObject;
  /** What asks for those who hold them, where the reader may know and no list of the page says it. */
  members?: JsonObject;
};

/** The contexts whose roles count for an object, the widest first. */
export function contextsAbove(
  { rows }: Kind,
  { organizationId, projectId }: Place,
  { may, instanceId }: { may: May; instanceId: string },
): Above[] {
  const contexts: readonly [MemberContext, string | undefined, Place][] = [
    ["instance_id", instanceId, { isInstance: true }],
    ["org_id", organizationId, { organizationId: organizationId ?? "" }],
    ["project_id", projectId, { organizationId: organizationId ?? "", projectId: projectId ?? "" }],
  ];
  return contexts.flatMap(([context, id, place]) => {
    if (id === undefined) return [];
    const isListed = rows.some(({ membersOf }) => membersOf === context);
    const isReadable = may("", place, memberPermission(context, "read"));
    const members = { filters: [{ context: { [context]: id } }] };
    const roles = { ctx: { [context]: id } };
    return [{ context, roles, ...(isReadable && !isListed && { members }) }];
  });
}

export const rolesMethod = listAvailableRoles;
export const membersMethod = searchMemberships;

/** Something that may be done with an object, and the permission that it takes. */
export type Act = { words: string[]; permission: string };

/** What can be done with an object, by permission: to see it first. */
export function actsOn(
  { get, actions }: Kind,
  object: JsonObject,
  { place, permissionOf }: { place: Place; permissionOf: Rights["permissionOf"] },
): Act[] {
  const words = new Map<string, string[]>();
  const add = (permission: string, word: string) => {
    if (permission !== "") words.set(permission, [...(words.get(permission) ?? []), word]);
  };
  add(permissionOf(get, place), "see");
  for (const { word, method, asFor = method, permission, when } of actions) {
    if (when !== undefined && !when(object)) continue;
    add(permission ?? permissionOf(asFor, place), word);
  }
  return [...words].map(([permission, each]) => ({ permission, words: each }));
}

/** The roles in what a context answered that give a permission at a place. */
export const rolesGiving = (answer: JsonObject, permission: string, place: Place): string[] =>
  objectsAt(answer, "permissions")
    .filter((role) => {
      const [given = [], elsewhere = []] = ["permissions", "only_in_organizations"].map(
        (name) => role[name] as string[] | undefined,
      );
      const isElsewhere = place.isInstance === true && elsewhere.includes(permission);
      return given.includes(permission) && !isElsewhere;
    })
    .map((role) => textAt(role, "role"));
