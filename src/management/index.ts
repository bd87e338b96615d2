import type { UserPorts } from "../resources/user/index.ts";
import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import type { MakeMember } from "../authz/ports.ts";
import { service } from "../authz/service.ts";
import type { Deps, Module } from "../projection/module.ts";
import { idConcerns } from "./concerns.ts";
import type { AnyTable } from "../storage/table.ts";
import { authorizeExport, exportOrganizations, type Managed } from "./export/export.ts";
import { importHandlers, importReader } from "./import/handlers.ts";
import { importKinds } from "./import/kinds.ts";
import { importJobs } from "./import/run.ts";
import { sweepImports } from "./import/sweep.ts";
import type { ImportPorts } from "./import/batch.ts";
import { importTables } from "./import/tables.ts";
import { importHumanUser, type PasskeyPage } from "./import-human.ts";
import { listProjectGrantChanges } from "./project-grant-changes.ts";
import { setUpOrg } from "./setup-org.ts";

export type { ImportPorts } from "./import/batch.ts";

/**
 * The operations of management v1 that live on (specification 4.4): facades over the slices, without facts of their own.
 * Imports have state: what waits to be imported, and what became of it.
 *
 * @param passkeyPage where somebody makes their first passkey
 * @param managed what is imported and exported of organizations, and kept by others
 */
export const managementModule = (
  passkeyPage: PasskeyPage,
  managed: Managed & { apps: AnyTable },
): Module<Deps & UserPorts & ImportPorts & { makeMember: MakeMember }> => ({
  events: [],
  projections: [],
  state: importTables,
  services: (deps) => [
    service(
      ManagementService,
      {
        setUpOrg: setUpOrg(deps),
        listProjectGrantChanges: listProjectGrantChanges(deps),
        importHumanUser: importHumanUser(deps, passkeyPage),
        ...importHandlers(deps, importKinds(deps, { ...deps, ...managed })),
        export: exportOrganizations(deps, managed),
      },
      {
        // Before anything is sent, so that a refusal is no broken stream.
        export: authorizeExport(deps),
        reportImport: async ({ id }, { instanceId }) =>
          void (await importReader(deps)(instanceId, id)),
      },
    ),
  ],
  concerns: (parts) => idConcerns(parts, managed.apps),
  jobs: (deps) => importJobs(deps, importKinds(deps, { ...deps, ...managed })),
  sweeps: (deps) => [sweepImports(deps)],
});
