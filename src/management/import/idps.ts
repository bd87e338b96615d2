import { create, type Message } from "@bufbuild/protobuf";
import {
  ImportedJwtIdpSchema,
  ImportedOidcIdpSchema,
  type JwtIdpData,
  type OidcIdpData,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { JWTConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/jwt_pb.ts";
import { OIDCConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/oidc_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import type { Deps } from "../../projection/module.ts";
import { idp, idpAdder, newOptions } from "../../resources/idp/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import {
  created,
  existed,
  kind,
  type Kind,
  note,
  type ImportContext,
  type Ref,
  type Write,
} from "./kind.ts";
import { idTaken, ownerOf } from "./own-project.ts";

type Data = Pick<OidcIdpData | JwtIdpData, "name" | "autoRegister" | "options">;

/** Identity providers of organizations, of the types that the old shape has. */
export function idpKinds(deps: Deps): Kind[] {
  const prepare = idpAdder(deps);

  function begin(
    type: "oidc" | "jwt",
    { idpId, inactive }: { idpId: string; inactive: boolean },
    { name, options, autoRegister = false }: Data,
    config: Message,
    { instanceId, orgId, known }: ImportContext,
  ): Write {
    const byItself = { isCreationAllowed: autoRegister, isAutoCreation: autoRegister };
    const add = prepare(type, {
      name,
      config,
      statePolicy: inactive ? "deactivate" : "activate",
      options: { ...newOptions(undefined), ...(options ? newOptions(options) : byItself) },
    });
    return async (tx) => {
      await requireOrganization(tx, orgId);
      const loaded = await tx.load(idp, idpId);
      const noted = await known.find("idp", idpId);
      if (loaded.state !== undefined || noted !== undefined) {
        if ((await ownerOf(known, "idp", loaded)) === orgId) return existed;
        throw taken();
      }
      if (loaded.version > 0n) throw taken();
      requireChosenId(idpId, "idp_id", { allDigits: true });
      await add(tx, instanceId, { type: "org", id: orgId }, idpId);
      return created(note("idp", idpId, { orgId }));
    };
  }

  return [
    kind("oidcIdps", {
      type: ImportedOidcIdpSchema,
      idOf: ({ idpId }) => idpId,
      refs: ({ idpId }, orgId) => refsOf(idpId, orgId),
      begin: (record, importContext) => {
        const data = given(record.idp);
        const { issuer, clientId, clientSecret, scopes, usePkce, isIdTokenMapping } = data;
        const config = create(OIDCConfigSchema, {
          issuer,
          clientId,
          scopes,
          usePkce,
          isIdTokenMapping,
          ...(clientSecret === "" ? {} : { clientSecret }),
        });
        return begin("oidc", record, data, config, importContext);
      },
    }),
    kind("jwtIdps", {
      type: ImportedJwtIdpSchema,
      idOf: ({ idpId }) => idpId,
      refs: ({ idpId }, orgId) => refsOf(idpId, orgId),
      begin: (record, importContext) => {
        const data = given(record.idp);
        const { issuer, jwtEndpoint, keysEndpoint, headerName } = data;
        const config = create(JWTConfigSchema, { issuer, jwtEndpoint, keysEndpoint, headerName });
        return begin("jwt", record, data, config, importContext);
      },
    }),
  ];
}

const refsOf = (idpId: string, orgId: string): Ref[] => [
  { type: "organization", id: orgId },
  { type: "idp", id: idpId },
];

function given<T>(data: T | undefined): T {
  if (data === undefined) throw new Error("validation requires what the provider is");
  return data;
}

const taken = () => idTaken("IDP_ID_TAKEN", "an identity provider");
