import type { PatchRole, Role } from "#gen/idsvc/resources/grant/v3alpha/role_pb.ts";
import { invalidField } from "../../../errors.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import { field, type FieldsOf } from "../../object/fields.ts";
import { defineResource } from "../../object/resource.ts";

/** A role of a project. Its key is unique within the project (C4). */
export const roles = defineResource({
  name: "role",
  events: "project.role",
  aggregateType: "project_role",
  table: "project_roles",
  owner: "org",
  states: false,
  fields: {
    projectId: field.text({ fixed: true }),
    key: field.text({ fixed: true, folded: true }),
    displayName: field.text({ folded: true }),
    group: field.text({ folded: true, as: "groupName" }),
  } satisfies FieldsOf<Role | PatchRole>,
  kept: ["key"],
  unique: {
    claim: "project.role.key",
    fields: ["projectId", "key"],
    of: ({ projectId, key }) => `${projectId}/${caseFold(key)}`,
    taken: {
      reason: "ROLE_KEY_TAKEN",
      text: "a role with this key exists in the project, in this or a like spelling",
    },
  },
  indexes: [
    { columns: ["instanceId", "projectId", "key"] },
    { columns: ["instanceId", "organizationId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "projectId", "key"] },
    { columns: ["instanceId", "creationDate", "id"] },
    { columns: ["instanceId", "changeDate", "id"] },
    { columns: ["instanceId", "keyFolded", "id"] },
    { columns: ["instanceId", "displayNameFolded", "id"] },
  ],
});

/** Refuses keys that are not among the ones there are. */
export function requireKeys(
  wanted: readonly string[],
  available: readonly string[],
  at: string,
  place: string,
): void {
  const known = new Set(available);
  const wrong = wanted.find((key) => !known.has(key));
  if (wrong === undefined) return;
  throw invalidField(at, "ROLE_KEY_UNKNOWN", `"${wrong}" is no role of ${place}`, {
    metadata: { role_key: wrong },
  });
}

export const withoutKeys = (keys: readonly string[], lost: readonly string[]): string[] =>
  keys.filter((key) => !lost.includes(key));
