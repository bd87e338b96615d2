import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DataOrgSchema,
  ImportedApiAppSchema,
  ImportedOidcAppSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import type { Deps } from "../../projection/module.ts";
import { appKeys, apps, toGetApp } from "../../resources/app/index.ts";
import { projectGrants, roles } from "../../resources/grant/index.ts";
import { projects } from "../../resources/project/index.ts";
import type { Row } from "../../storage/table.ts";
import { pagesOf } from "../../projection/pages.ts";

/** A part of an organization: some of its lists. */
export type Part = Omit<MessageInitShape<typeof DataOrgSchema>, "$typeName" | "orgId">;

/** The projects of an organization with their roles, apps and grants. */
export async function* belowProjects(
  { db, now }: Pick<Deps, "db" | "now">,
  instanceId: string,
  organizationId: string,
  serviceProject: string | undefined,
): AsyncGenerator<Part> {
  const mine = { organizationId };
  const own = <T extends { projectId: string }>(rows: T[]): T[] =>
    rows.filter(({ projectId }) => projectId !== serviceProject);

  for await (const page of pagesOf(db, projects.table, ["id"], instanceId, mine)) {
    yield {
      projects: page
        .filter(({ id }) => id !== serviceProject)
        .map(({ id: projectId, state, ...row }) => ({
          projectId,
          project: {
            name: row.name,
            projectRoleAssertion: row.roleAssertion,
            projectRoleCheck: row.authorizationRequired,
            hasProjectCheck: row.projectAccessRequired,
          },
          inactive: state !== "active",
        })),
    };
  }
  for await (const page of pagesOf(db, roles.table, ["projectId", "key"], instanceId, mine)) {
    yield {
      projectRoles: own(page).map(({ projectId, key, displayName, groupName }) => ({
        projectId,
        roleKey: key,
        displayName,
        group: groupName,
      })),
    };
  }
  for await (const page of pagesOf(db, apps, ["id"], instanceId, mine)) {
    const rows = own(page);
    yield { oidcApps: rows.filter(({ kind }) => kind === "oidc").map(toOidcApp) };
    yield { apiApps: rows.filter(({ kind }) => kind !== "oidc").map(toApiApp) };
    for (const { id } of rows) {
      for await (const keys of pagesOf(db, appKeys, ["id"], instanceId, { appId: id })) {
        const valid = keys.filter(({ expirationDate }) => (expirationDate ?? later) > now());
        yield { appKeys: valid.map(toAppKey) };
      }
    }
  }
  for await (const page of pagesOf(db, projectGrants.table, ["id"], instanceId, mine)) {
    yield {
      projectGrants: own(page).map((row) => ({
        grantId: row.id,
        projectGrant: {
          projectId: row.projectId,
          grantedOrgId: row.grantedOrganizationId,
          roleKeys: row.roleKeys,
        },
        inactive: row.state !== "active",
      })),
    };
  }
}

const later = new Date(8.64e15);

export const expiring = (date: Date | null) =>
  date === null ? {} : { expirationDate: timestampFromDate(date) };

type AppRow = Row<typeof apps>;

function toOidcApp(row: AppRow): MessageInitShape<typeof ImportedOidcAppSchema> {
  const { id: appId, projectId, name, clientId } = row;
  const config = toGetApp(row, true, false).app?.config;
  if (config?.case !== "oidc") throw new Error("a row of the kind oidc gives an app of that kind");
  // The fields of both messages have the same names.
  const { $typeName: _, ...oidc } = config.value;
  return {
    appId,
    app: { ...oidc, projectId, name, clientId } as MessageInitShape<
      typeof ImportedOidcAppSchema
    >["app"] &
      object,
    inactive: row.state !== "active",
  };
}

function toApiApp(row: AppRow): MessageInitShape<typeof ImportedApiAppSchema> {
  const { id: appId, projectId, name, clientId } = row;
  const config = toGetApp(row, true, false).app?.config;
  const method = config?.case === "api" ? config.value.authMethodType : undefined;
  return {
    appId,
    app: { projectId, name, clientId, ...(method === undefined ? {} : { authMethodType: method }) },
    inactive: row.state !== "active",
  };
}

const toAppKey = ({ id, appId, publicKey, expirationDate }: Row<typeof appKeys>) => ({
  id,
  appId,
  publicKey: Uint8Array.from(Buffer.from(publicKey)),
  ...expiring(expirationDate),
});
