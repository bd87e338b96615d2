import { failedPrecondition, notFound } from "../../../errors.ts";
import { aggregate } from "../../../eventstore/aggregate.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { requireOrganization } from "../../org/index.ts";
import { sameKeys, withoutKeys } from "../role/role.ts";
import { type ProjectGrantConfig, type ProjectGrantEvent, projectGrantEvents } from "./events.ts";

export type ProjectGrant = ProjectGrantConfig & {
  state: "active" | "inactive";
  /** Whether the organization that it was given to wants it; unsaid for those of earlier releases. */
  accepted?: boolean;
};

type State = ProjectGrant | undefined;

export const projectGrant = aggregate(projectGrantEvents, undefined as State, evolve);

function evolve(state: State, event: ProjectGrantEvent): State {
  if (event.type === "project.grant.added") {
    const { isAsked: _, ...config } = event.payload;
    return { ...config, state: "active" };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case "project.grant.changed":
    case "project.grant.cascade.changed":
      return { ...state, roleKeys: event.payload.roleKeys };
    case "project.grant.deactivated":
      return { ...state, state: "inactive" };
    case "project.grant.reactivated":
      return { ...state, state: "active" };
    case "project.grant.accepted":
      return { ...state, accepted: true };
    case "project.grant.declined":
      return { ...state, accepted: false };
    case "project.grant.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function addProjectGrant(state: State, config: ProjectGrantConfig): ProjectGrantEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("PROJECT_GRANT_ID_USED", "a project grant with this id exists");
  }
  return [projectGrantEvents.added({ ...config, isAsked: true })];
}

/** Gives other roles. The same ones are no event and no error. */
export function changeGrantedRoles(state: State, roleKeys: string[]): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  const { projectId } = state;
  return sameKeys(state.roleKeys, roleKeys)
    ? []
    : [projectGrantEvents.changed({ projectId, roleKeys })];
}

/** The project lost roles, and the grant with it. */
export function loseGrantedRoles(state: State, lost: readonly string[]): ProjectGrantEvent[] {
  if (state === undefined) return [];
  const { projectId } = state;
  const roleKeys = withoutKeys(state.roleKeys, lost);
  return roleKeys.length === state.roleKeys.length
    ? []
    : [projectGrantEvents["cascade.changed"]({ projectId, roleKeys })];
}

export function deactivateProjectGrant(state: State): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("PROJECT_GRANT_INACTIVE", "the project grant is inactive already");
  }
  return [projectGrantEvents.deactivated({})];
}

export function activateProjectGrant(state: State): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  if (state.state === "active") {
    throw failedPrecondition("PROJECT_GRANT_ACTIVE", "the project grant is active already");
  }
  return [projectGrantEvents.reactivated({})];
}

/** The organization wants it. What is so already is no event and no error. */
export function acceptProjectGrant(state: State): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  if (state.accepted === true) return [];
  const { projectId, grantedOrganizationId } = state;
  return [projectGrantEvents.accepted({ projectId, grantedOrganizationId })];
}

/** The organization does not want it: users of it are asked before an app of the project gets anything of them. */
export function declineProjectGrant(state: State): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  if (state.accepted === false) return [];
  const { projectId, grantedOrganizationId } = state;
  return [projectGrantEvents.declined({ projectId, grantedOrganizationId })];
}

export function removeProjectGrant(state: State): ProjectGrantEvent[] {
  if (state === undefined) throw projectGrantNotFound();
  const { projectId, grantedOrganizationId } = state;
  return [projectGrantEvents.removed({ projectId, grantedOrganizationId })];
}

/**
 * Makes sure that the project grant and the organization that has it are still there when the unit commits.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function requireProjectGrant(tx: Transaction, id: string): Promise<ProjectGrant> {
  const { state } = await tx.load(projectGrant, id);
  if (state === undefined) throw projectGrantNotFound();
  await requireOrganization(tx, state.grantedOrganizationId);
  return state;
}

export const projectGrantNotFound = () =>
  notFound("PROJECT_GRANT_NOT_FOUND", "the project grant does not exist");
