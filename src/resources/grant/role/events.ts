import { defineEvents, type EventOf, hold, payload, release } from "../../../eventstore/event.ts";
import { caseFold } from "../../../storage/case-fold.ts";

export const roleKeyClaim = "project.role.key";

export type RoleConfig = {
  projectId: string;
  key: string;
  displayName: string;
  group: string;
};

/** Facts about a role of a project. */
export const roleEvents = defineEvents(
  "project.role",
  {
    // A key is unique within its project (C4).
    added: payload<RoleConfig>({
      claims: ({ projectId, key }) => [hold(roleKeyClaim, `${projectId}/${caseFold(key)}`)],
    }),
    changed: payload<Partial<Pick<RoleConfig, "displayName" | "group">>>(),
    removed: payload<{ key: string }>({ claims: () => [release(roleKeyClaim)] }),
  },
  "project_role",
);

export type RoleEvent = EventOf<typeof roleEvents>;
