import { generateKeyPairSync } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { ofService, onId, type Sample, tooLong, tooLongId, type World } from "./sample.ts";

const unknown = "IDP_NOT_FOUND";
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
const client = { client_id: "idsvc", client_secret: "a secret" };
const endpoints = {
  authorization_endpoint: "https://login.example.com/authorize",
  token_endpoint: "https://login.example.com/token",
  user_endpoint: "https://login.example.com/user",
};
const issuer = "https://login.example.com";

type TypeSample = { rpc: string; config: JsonObject; patch: JsonObject };

/** A configuration of each type, and a change of it. */
export const idpConfigs: Readonly<Record<string, TypeSample>> = {
  oidc: { rpc: "OIDC", config: { issuer, ...client, use_pkce: true }, patch: { use_pkce: false } },
  oauth: {
    rpc: "OAuth",
    config: { ...endpoints, ...client, id_attribute: "id" },
    patch: { id_attribute: "login" },
  },
  jwt: {
    rpc: "JWT",
    config: {
      issuer,
      jwt_endpoint: "https://login.example.com/jwt",
      keys_endpoint: "https://login.example.com/keys",
      header_name: "x-token",
    },
    patch: { header_name: "x-auth-token" },
  },
  ldap: {
    rpc: "LDAP",
    config: {
      servers: ["ldaps://ldap.example.com"],
      base_dn: "dc=example,dc=com",
      bind_dn: "cn=idsvc,dc=example,dc=com",
      bind_password: "a secret",
      attributes: { id_attribute: "entryUUID", email_attribute: "mail" },
    },
    patch: { attributes: { phone_attribute: "mobile" } },
  },
  directory_a: {
    rpc: "DirectoryA",
    config: { ...client, tenant: { tenant_id: "contoso" } },
    patch: { tenant: { tenant_type: "DIRECTORY_A_TENANT_TYPE_CONSUMERS" } },
  },
  forge_a: { rpc: "ForgeA", config: client, patch: { scopes: ["user:email"] } },
  forge_a_es: {
    rpc: "ForgeAES",
    config: { ...endpoints, ...client },
    patch: { client_id: "other" },
  },
  forge_b: { rpc: "ForgeB", config: client, patch: { client_id: "other" } },
  forge_b_self_hosted: {
    rpc: "ForgeBSelfHosted",
    config: { issuer, ...client },
    patch: { client_secret: "another secret" },
  },
  social_a: { rpc: "SocialA", config: client, patch: { client_id: "other" } },
  social_b: {
    rpc: "SocialB",
    config: {
      client_id: "idsvc",
      team_id: "TEAM",
      key_id: "KEY",
      private_key: Buffer.from(pem).toString("base64"),
    },
    patch: { key_id: "OTHER" },
  },
  saml: {
    rpc: "SAML",
    config: { metadata_url: "https://login.example.com/metadata", with_signed_request: true },
    patch: { name_id_format: "SAML_NAME_ID_FORMAT_EMAIL_ADDRESS" },
  },
};

const nowhere = { request: { ctx: { org_id: "404" } }, reason: "ORGANIZATION_NOT_FOUND" };

const newIdp = (world: World, type: string) => {
  const config = idpConfigs[type]?.config ?? {};
  return world.make(`/idps/${type}`, { idp: { name: world.name() }, config });
};

const ofType = ([type, { rpc, config, patch }]: [string, TypeSample]): [string, Sample][] => [
  [
    `Create${rpc}IDP`,
    {
      valid: (world) => ({
        idp: { idp: { name: world.name() }, config },
      }),
      invalid: {
        request: { idp: { idp: { name: tooLong }, config } },
        field: "idp.idp.name",
      },
      unknown: { ...nowhere, request: { ...nowhere.request, idp: { config } } },
      writes: true,
    },
  ],
  [
    `Patch${rpc}IDP`,
    {
      valid: async (world) => ({
        id: await newIdp(world, type),
        idp: { idp: { options: { is_auto_update: true } }, config: patch },
      }),
      invalid: { request: { id: "1", idp: { idp: { name: "" } } }, field: "idp.idp.name" },
      unknown: { request: { id: "404", idp: {} }, reason: unknown },
      writes: true,
    },
  ],
  [`Get${rpc}IDP`, onId(unknown, (world) => newIdp(world, type), false)],
];

let previewed: Promise<string> | undefined;

export const idpSamples: Record<string, Sample> = ofService(IdentityProviderService.typeName, {
  ...Object.fromEntries(Object.entries(idpConfigs).flatMap(ofType)),
  ConfirmIDP: onId(unknown, (world) => newIdp(world, "forge_b")),
  DeleteIDP: onId(unknown, (world) => newIdp(world, "forge_b")),
  SearchIDPs: {
    valid: () => ({ filters: [{ name: { name: "none" } }] }),
    invalid: { request: { filters: [{ name: { name: tooLong } }] }, field: "filters[0].name.name" },
    unknown: nowhere,
    writes: false,
  },
  ListIDPStatePolicies: onId(unknown, (world) => newIdp(world, "forge_b"), false),
  PreviewIDPStatePolicy: {
    valid: async (world) => {
      previewed ??= newIdp(world, "forge_b");
      return { id: await previewed, preview: { state_policy: "STATE_POLICY_DEACTIVATE" } };
    },
    invalid: {
      ...tooLongId,
      request: { ...tooLongId.request, preview: { state_policy: "STATE_POLICY_INHERIT" } },
    },
    unknown: {
      request: { id: "404", preview: { state_policy: "STATE_POLICY_INHERIT" } },
      reason: unknown,
    },
    writes: false,
  },
});
