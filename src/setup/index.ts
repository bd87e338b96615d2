import type { Module } from "../projection/module.ts";
import { defaultsConcerns } from "./concerns.ts";

export {
  addHumanOwner,
  addMachineOwner,
  createInstance,
  firstDomain,
  newInstanceIds,
} from "./create-instance.ts";
export { requireFirstPassword } from "./first-password.ts";
export { setupHandlers, type SetupPorts } from "./handlers.ts";

/** Instances as they are made, of parts of all slices: organization, project, owners, keys and first settings. */
export const setupModule: Module = {
  events: [],
  projections: [],
  concerns: defaultsConcerns,
};
