import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { service } from "../authz/service.ts";
import type { Module } from "../projection/module.ts";
import { importHumanUser } from "./import-human.ts";
import { listProjectGrantChanges } from "./project-grant-changes.ts";
import { setUpOrg } from "./setup-org.ts";

/** The operations of management v1 that live on (service.md 4.4): facades over the slices, without facts of their own. */
export const managementModule: Module = {
  events: [],
  projections: [],
  services: (deps) => [
    service(ManagementService, {
      setUpOrg: setUpOrg(deps),
      listProjectGrantChanges: listProjectGrantChanges(deps),
      importHumanUser: importHumanUser(deps),
    }),
  ],
};
