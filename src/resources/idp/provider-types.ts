import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import { DirectoryAConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/directory_a_pb.ts";
import { ForgeAConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/forge_a_pb.ts";
import { ForgeAESConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/forge_a_es_pb.ts";
import { ForgeBConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/forge_b_pb.ts";
import { ForgeBSelfHostedConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/forge_b_self_hosted_pb.ts";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { JWTConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/jwt_pb.ts";
import { LDAPConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/ldap_pb.ts";
import { OAuthConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/oauth_pb.ts";
import { OIDCConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/oidc_pb.ts";
import { SAMLConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/saml_pb.ts";
import { SocialAConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/social_a_pb.ts";
import { SocialBConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/social_b_pb.ts";

/** What the service must know of a type of providers to keep its configuration; how one logs in with it is elsewhere. */
export type ProviderType<C extends DescMessage = DescMessage> = {
  /** As its methods and messages are named: `Create<rpc>IDP`. */
  rpc: string;
  /** What a provider is called that was given no name. */
  title: string;
  config: C;
  patch: DescMessage;
  /** The field that is written and never read. */
  secret?: string;
  /**
   * Fields that say where the secret is sent, or how it is protected there: to change one takes a new secret
   * (E1, D64).
   */
  secretBoundFields: readonly string[];
  /** Fields that hold http URLs which the service calls: they must be allowed (X13). */
  urls: readonly string[];
  /** What counts where a field is empty on create. */
  defaults?: JsonObject;
};

type Declared<C extends DescMessage> = Omit<ProviderType<C>, "patch" | "secretBoundFields"> &
  Partial<Pick<ProviderType, "secretBoundFields">>;

/** A secret goes to the addresses that the service calls, where the type does not say otherwise. */
const providerType = <C extends DescMessage>(declared: Declared<C>): ProviderType<C> => ({
  patch: patchOf(declared.rpc),
  secretBoundFields: declared.secret === undefined ? [] : declared.urls,
  ...declared,
});

/** The message of the changes of a configuration, from the request of the method that takes it. */
function patchOf(rpc: string): DescMessage {
  const { input } = IdentityProviderService.method[`patch${rpc}IDP` as "patchOIDCIDP"];
  const patch = input.field["idp"]?.message?.field["config"]?.message;
  if (patch === undefined) throw new Error(`${input.typeName} has no configuration`);
  return patch;
}

const endpoints = ["authorization_endpoint", "token_endpoint", "user_endpoint"];
const usualScopes = { scopes: ["openid", "profile", "email"] };

// Whose endpoints are what the issuer says they are.
const byIssuer = { secret: "client_secret", urls: ["issuer"] };

/** Every type of providers, by its name in paths and events. */
export const providerTypes = {
  oidc: providerType({
    rpc: "OIDC",
    title: "OpenID Connect",
    config: OIDCConfigSchema,
    ...byIssuer,
    defaults: usualScopes,
  }),
  oauth: providerType({
    rpc: "OAuth",
    title: "OAuth",
    config: OAuthConfigSchema,
    secret: "client_secret",
    urls: endpoints,
  }),
  jwt: providerType({
    rpc: "JWT",
    title: "JWT",
    config: JWTConfigSchema,
    urls: ["issuer", "jwt_endpoint", "keys_endpoint"],
  }),
  ldap: providerType({
    rpc: "LDAP",
    title: "LDAP",
    config: LDAPConfigSchema,
    secret: "bind_password",
    // Whom the servers are trusted by counts too: another authority could vouch for another server.
    secretBoundFields: ["servers", "start_tls", "root_ca"],
    urls: [],
    defaults: {
      user_base: "dn",
      user_object_classes: ["inetOrgPerson"],
      user_filters: ["uid"],
      timeout: "10s",
    },
  }),
  directory_a: providerType({
    rpc: "DirectoryA",
    title: "Directory A",
    config: DirectoryAConfigSchema,
    ...byIssuer,
    defaults: { scopes: [...usualScopes.scopes, "User.Read"] },
  }),
  forge_a: providerType({
    rpc: "ForgeA",
    title: "Forge A",
    config: ForgeAConfigSchema,
    ...byIssuer,
  }),
  forge_a_es: providerType({
    rpc: "ForgeAES",
    title: "Forge A",
    config: ForgeAESConfigSchema,
    secret: "client_secret",
    urls: endpoints,
  }),
  forge_b: providerType({
    rpc: "ForgeB",
    title: "Forge B",
    config: ForgeBConfigSchema,
    ...byIssuer,
    defaults: usualScopes,
  }),
  forge_b_self_hosted: providerType({
    rpc: "ForgeBSelfHosted",
    title: "Forge B",
    config: ForgeBSelfHostedConfigSchema,
    ...byIssuer,
    defaults: usualScopes,
  }),
  social_a: providerType({
    rpc: "SocialA",
    title: "Social A",
    config: SocialAConfigSchema,
    ...byIssuer,
    defaults: usualScopes,
  }),
  social_b: providerType({
    rpc: "SocialB",
    title: "Social B",
    config: SocialBConfigSchema,
    secret: "private_key",
    urls: ["issuer"],
    defaults: { scopes: ["name", "email"] },
  }),
  saml: providerType({
    rpc: "SAML",
    title: "SAML",
    config: SAMLConfigSchema,
    urls: ["metadata_url"],
  }),
} as const;

export type IdpType = keyof typeof providerTypes;

export const idpTypes = Object.keys(providerTypes) as IdpType[];

/** The configuration of each type, as the schema has it; its secret is never in it. */
export type IdpConfigs = {
  [T in IdpType]: MessageShape<(typeof providerTypes)[T]["config"]>;
};
