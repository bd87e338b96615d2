import { defineEvents, type EventOf, hold, payload, release } from "../../../eventstore/event.ts";

export const userGrantClaim = "user.grant";

/** What a user grant is for. Without a project grant, its id is empty. */
export type UserGrantContext = { userId: string; projectId: string; projectGrantId: string };

export type UserGrantConfig = UserGrantContext & { roleKeys: string[] };

type Roles = { projectId: string; projectGrantId: string; roleKeys: string[] };

const letGo = { claims: () => [release(userGrantClaim)] };

/** Facts about the roles of a user in a project. The owner is the organization that granted them. */
export const userGrantEvents = defineEvents(
  "user.grant",
  {
    // One for a user, a project and a project grant (C4).
    added: payload<UserGrantConfig>({
      claims: ({ userId, projectId, projectGrantId }) => [
        hold(userGrantClaim, `${userId}/${projectId}/${projectGrantId}`),
      ],
    }),
    changed: payload<Roles>(),
    /** The project or the project grant lost roles. */
    "cascade.changed": payload<Roles>(),
    deactivated: payload<Record<string, never>>(),
    reactivated: payload<Record<string, never>>(),
    removed: payload<UserGrantContext>(letGo),
    /** It went with its user, its project or its project grant. */
    "cascade.removed": payload<UserGrantContext>(letGo),
  },
  "user_grant",
);

export type UserGrantEvent = EventOf<typeof userGrantEvents>;
