import type { Module } from "../../projection/module.ts";
import { projectEvents } from "./events.ts";
import { projectProjection } from "./projection.ts";

export { addProject, project } from "./project.ts";

export const projectModule: Module = {
  events: [projectEvents],
  projections: [projectProjection],
};
