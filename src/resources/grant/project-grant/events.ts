import { defineEvents, type EventOf, hold, payload, release } from "../../../eventstore/event.ts";

export const projectGrantClaim = "project.grant";

export type ProjectGrantConfig = {
  projectId: string;
  grantedOrganizationId: string;
  roleKeys: string[];
};

type Accepted = Omit<ProjectGrantConfig, "roleKeys">;
type Roles = { projectId: string; roleKeys: string[] };

/** Facts about the right of another organization to use a project. */
export const projectGrantEvents = defineEvents(
  "project.grant",
  {
    // One for a project and an organization.
    // `isAsked` is of each since grants are accepted: those of earlier releases are without.
    added: payload<ProjectGrantConfig & { isAsked?: true }>({
      claims: ({ projectId, grantedOrganizationId }) => [
        hold(projectGrantClaim, `${projectId}/${grantedOrganizationId}`),
      ],
    }),
    changed: payload<Roles>(),
    /** The project lost roles. */
    "cascade.changed": payload<Roles>(),
    deactivated: payload<Record<string, never>>(),
    reactivated: payload<Record<string, never>>(),
    /** Somebody who answers for the users of the granted organization wants it, or does not. */
    accepted: payload<Accepted>(),
    declined: payload<Accepted>(),
    removed: payload<Omit<ProjectGrantConfig, "roleKeys">>({
      claims: () => [release(projectGrantClaim)],
    }),
  },
  "project_grant",
);

export type ProjectGrantEvent = EventOf<typeof projectGrantEvents>;
