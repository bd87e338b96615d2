import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DataOrgSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import type { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import type { ExportRequest } from "#gen/idsvc/management/v1/import_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { permissionDenied } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import { instance } from "../../resources/instance/index.ts";
import { organizations } from "../../resources/org/index.ts";
import { rowById } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import type { Row } from "../../storage/table.ts";
import { idpsOf } from "./idps.ts";
import { appsOf } from "./apps.ts";
import { projectGrantsOf, rolesOf, userGrantsOf } from "./grants.ts";
import type { Of, Part } from "./parts.ts";
import { projectsOf } from "./projects.ts";
import { pagesOf } from "../../projection/pages.ts";
import type { ManagedSettings } from "../policy-names.ts";
import { policiesOf } from "./policies.ts";
import type { MemberPorts } from "../import/members.ts";
import { type ExportedMember, toMembers, usersOf } from "./users.ts";
import { organizationMissing } from "../../authz/tenancy.ts";

type Organization = Row<typeof organizations>;

/** What others keep of organizations; what nobody keeps is not exported, and refused by an import. */
export type Managed = ManagedSettings & {
  domainsOf?: DomainsOf;
  members: MemberPorts["members"] & { pagesOf: MembersOf };
};

/** The domains of organizations by name, some at a time. */
type DomainsOf = (
  db: Database,
) => (instanceId: string, organizationId: string) => AsyncIterable<readonly ExportedDomain[]>;
/** Who has roles in organizations and below, by context and user, some at a time. */
type MembersOf = (
  db: Database,
) => (instanceId: string, organizationId: string) => AsyncIterable<readonly ExportedMember[]>;
type ExportedDomain = { name: string; isProven: boolean; isPrimary: boolean };

/**
 * Exports organizations as an import takes them, in an order that depends on nothing but ids and names: what is exported,
 * imported and exported again is the same text. The service's own project, and users of the instance's own schemas, are
 * left out.
 */
export function exportOrganizations(
  deps: Deps,
  { domainsOf, members, ...groups }: Managed,
): Handlers<typeof ManagementService>["export"] {
  const { db, events } = deps;
  const byId = rowById(db, organizations);
  const people = usersOf(deps);
  const membersOf = members.pagesOf(db);
  const policies = policiesOf(db, groups);
  const domains = domainsOf?.(db) ?? (() => []);

  async function* chosen(instanceId: string, ids: readonly string[]): AsyncGenerator<Organization> {
    for (const id of ids.toSorted()) {
      const row = await byId(instanceId, id);
      if (row !== undefined) yield row;
    }
    if (ids.length > 0) return;
    for await (const page of pagesOf(db, organizations, ["id"], instanceId, {})) yield* page;
  }

  async function* partsOf(
    of: Organization,
    serviceProject: string | undefined,
    wanted: { withPasswords: boolean; withOtp: boolean },
  ): AsyncGenerator<Part> {
    const { instanceId, id, name, state, primaryDomain: domain } = of;
    yield {
      org: { name, domain, inactive: state !== "active" },
      ...(await policies(instanceId, id)),
    };
    for await (const page of domains(instanceId, id)) {
      yield {
        domains: page.map((row) => ({
          domainName: row.name,
          isVerified: row.isProven,
          isPrimary: row.isPrimary,
        })),
      };
    }
    yield* idpsOf(db, instanceId, id);
    const mine: Of = { instanceId, organizationId: id, serviceProject };
    yield* projectsOf(db, mine);
    yield* rolesOf(db, mine);
    yield* appsOf(deps, mine);
    yield* projectGrantsOf(db, mine);
    yield* people(instanceId, id, wanted);
    yield* userGrantsOf(db, mine);
    for await (const page of membersOf(instanceId, id)) yield toMembers(page);
  }

  return async function* ({ orgIds, excludedOrgIds, withPasswords, withOtp }, { instanceId }) {
    const { state } = await events.load(instance, instanceId, instanceId);
    const excluded = new Set(excludedOrgIds);
    for await (const of of chosen(instanceId, orgIds)) {
      if (excluded.has(of.id)) continue;
      for await (const part of partsOf(of, state?.projectId, { withPasswords, withOtp })) {
        if (Object.values(part).every(isEmpty)) continue;
        const org: MessageInitShape<typeof DataOrgSchema> = { orgId: of.id, ...part };
        yield { org };
      }
    }
  };
}

/**
 * Before the first part is given: secrets are for system callers, and organizations that are named must be there.
 *
 * @throws PERMISSION_DENIED EXPORT_SECRETS_DENIED
 * @throws NOT_FOUND ORGANIZATION_NOT_FOUND
 */
export function authorizeExport({ db }: Pick<Deps, "db">) {
  const byId = rowById(db, organizations);
  return async ({ orgIds, withPasswords, withOtp }: ExportRequest, scope: Scope): Promise<void> => {
    if ((withPasswords || withOtp) && scope.caller.kind !== "system") throw secretsDenied();
    await db.catchUp();
    for (const id of orgIds) {
      if ((await byId(scope.instanceId, id)) === undefined) {
        throw organizationMissing(`organization ${id} does not exist`);
      }
    }
  };
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const secretsDenied = () =>
  permissionDenied(
    "EXPORT_SECRETS_DENIED",
    "hashes of passwords and secrets of authenticator apps are given to system callers only",
  );
