import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";

export type ProjectConfig = {
  name: string;
  roleAssertion: boolean;
  authorizationRequired: boolean;
  projectAccessRequired: boolean;
};

/** Facts about a project: what apps and roles belong to, and what tokens are made for. */
export const projectEvents = defineEvents("project", {
  added: payload<ProjectConfig>(),
  changed: payload<Partial<ProjectConfig>>(),
  deactivated: payload<Record<string, never>>(),
  reactivated: payload<Record<string, never>>(),
  removed: payload<{ name: string }>(),
});

export type ProjectEvent = EventOf<typeof projectEvents>;
