import type { PatchProject, Project } from "#gen/idsvc/resources/project/v3alpha/project_pb.ts";
import { failedPrecondition } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { field, type FieldsOf, indexesOfNamed } from "../object/fields.ts";
import { defineResource } from "../object/resource.ts";
import { requireOrganization } from "../org/index.ts";

/** A project: what apps and roles belong to, and what tokens are made for. */
export const projects = defineResource({
  name: "project",
  events: "project",
  table: "projects",
  owner: "org",
  states: true,
  fields: {
    name: field.text({ folded: true }),
    /** Its roles are told of its users unasked. */
    roleAssertion: field.bool({}),
    /** Who logs in needs a role in it. */
    authorizationRequired: field.bool({}),
    /** Who logs in must be of an organization that owns it or that it is granted to. */
    projectAccessRequired: field.bool({}),
  } satisfies FieldsOf<Project | PatchProject>,
  kept: ["name"],
  indexes: [
    { columns: ["instanceId", "organizationId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "id"] },
    ...indexesOfNamed,
  ],
});

type State = typeof projects.aggregate.initial;

/** @throws FAILED_PRECONDITION PROJECT_OF_SERVICE, since every token for the API is made for that project */
export function deactivateProject(state: State, isOfService: boolean) {
  const happened = projects.deactivate(state);
  if (isOfService) throw projectOfService("deactivated");
  return happened;
}

/** @throws FAILED_PRECONDITION PROJECT_OF_SERVICE */
export function removeProject(state: State, isOfService: boolean) {
  const happened = projects.remove(state);
  if (isOfService) throw projectOfService("deleted");
  return happened;
}

/**
 * Makes sure that the project and its organization are still there when the unit commits: what is created in the
 * project cannot outlive it. Tells the organization.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function requireProject(
  tx: Transaction,
  id: string,
): Promise<{ organizationId: string }> {
  const { state, last } = await tx.load(projects.aggregate, id);
  if (state === undefined || last === undefined) throw projects.missing();
  await requireOrganization(tx, last.owner.id);
  return { organizationId: last.owner.id };
}

const projectOfService = (what: string) =>
  failedPrecondition(
    "PROJECT_OF_SERVICE",
    `the project of the service itself cannot be ${what}: the tokens for its API are made for it`,
  );
