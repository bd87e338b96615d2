import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate, changedFields, isEmpty, type Patch } from "../../eventstore/aggregate.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { requireOrganization } from "../org/index.ts";
import { type ProjectConfig, type ProjectEvent, projectEvents } from "./events.ts";

export type Project = ProjectConfig & { state: "active" | "inactive" };

type State = Project | undefined;

export const project = aggregate(projectEvents, undefined as State, evolve);

function evolve(state: State, event: ProjectEvent): State {
  if (event.type === "project.added") return { ...event.payload, state: "active" };
  if (state === undefined) return undefined;
  switch (event.type) {
    case "project.changed":
      return { ...state, ...event.payload };
    case "project.deactivated":
      return { ...state, state: "inactive" };
    case "project.reactivated":
      return { ...state, state: "active" };
    case "project.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function addProject(state: State, config: ProjectConfig): ProjectEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("PROJECT_EXISTS", "a project with this id exists");
  }
  return [projectEvents.added(config)];
}

/** A patch that changes nothing is no event and no error. */
export function patchProject(state: State, patch: Patch<ProjectConfig>): ProjectEvent[] {
  if (state === undefined) throw projectNotFound();
  const changes = changedFields<ProjectConfig>(state, patch);
  return isEmpty(changes) ? [] : [projectEvents.changed(changes)];
}

/** @throws FAILED_PRECONDITION PROJECT_OF_SERVICE, since every token for the API is made for that project */
export function deactivateProject(state: State, isOfService: boolean): ProjectEvent[] {
  if (state === undefined) throw projectNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("PROJECT_INACTIVE", "the project is inactive already");
  }
  if (isOfService) throw projectOfService("deactivated");
  return [projectEvents.deactivated({})];
}

export function activateProject(state: State): ProjectEvent[] {
  if (state === undefined) throw projectNotFound();
  if (state.state === "active") {
    throw failedPrecondition("PROJECT_ACTIVE", "the project is active already");
  }
  return [projectEvents.reactivated({})];
}

/** @throws FAILED_PRECONDITION PROJECT_OF_SERVICE */
export function removeProject(state: State, isOfService: boolean): ProjectEvent[] {
  if (state === undefined) throw projectNotFound();
  if (isOfService) throw projectOfService("deleted");
  return [projectEvents.removed({ name: state.name })];
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
  const { state, last } = await tx.load(project, id);
  if (state === undefined || last === undefined) throw projectNotFound();
  await requireOrganization(tx, last.owner.id);
  return { organizationId: last.owner.id };
}

export const projectNotFound = () => notFound("PROJECT_NOT_FOUND", "the project does not exist");

const projectOfService = (what: string) =>
  failedPrecondition(
    "PROJECT_OF_SERVICE",
    `the project of the service itself cannot be ${what}: the tokens for its API are made for it`,
  );
