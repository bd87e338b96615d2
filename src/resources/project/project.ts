import { failedPrecondition } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type ProjectConfig, type ProjectEvent, projectEvents } from "./events.ts";

export const project = aggregate(
  projectEvents,
  undefined as ProjectConfig | undefined,
  (_, event) => event.payload,
);

export function addProject(
  state: ProjectConfig | undefined,
  config: ProjectConfig,
): ProjectEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("PROJECT_EXISTS", "a project with this id exists");
  }
  return [projectEvents.added(config)];
}
