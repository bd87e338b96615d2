import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";

export type ProjectConfig = {
  name: string;
  roleAssertion: boolean;
  authorizationRequired: boolean;
  projectAccessRequired: boolean;
};

/** Facts about a project: what tokens are made for. */
export const projectEvents = defineEvents("project", { added: payload<ProjectConfig>() });

export type ProjectEvent = EventOf<typeof projectEvents>;
