import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ImportedApiAppSchema,
  ImportedOidcAppSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import type { Deps } from "../../projection/module.ts";
import { appKeys, apps, toGetApp } from "../../resources/app/index.ts";
import type { Row } from "../../storage/table.ts";
import { pagesOf } from "../../projection/pages.ts";
import { expiring, type Of, ofOwn, type Part } from "./parts.ts";

const later = new Date(8.64e15);

/** The apps of an organization, with their keys. */
export async function* appsOf({ db, now }: Pick<Deps, "db" | "now">, of: Of): AsyncGenerator<Part> {
  const { instanceId, organizationId } = of;
  for await (const page of pagesOf(db, apps, ["id"], instanceId, { organizationId })) {
    const rows = ofOwn(page, of);
    yield { oidcApps: rows.filter(({ kind }) => kind === "oidc").map(toOidcApp) };
    yield { apiApps: rows.filter(({ kind }) => kind !== "oidc").map(toApiApp) };
    for (const { id } of rows) {
      for await (const keys of pagesOf(db, appKeys, ["id"], instanceId, { appId: id })) {
        const valid = keys.filter(({ expirationDate }) => (expirationDate ?? later) > now());
        yield { appKeys: valid.map(toAppKey) };
      }
    }
  }
}

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
