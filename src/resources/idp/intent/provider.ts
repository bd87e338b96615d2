import { durationMs } from "@bufbuild/protobuf/wkt";
import { DirectoryATenantType } from "#gen/idsvc/resources/idp/v3alpha/directory_a_pb.ts";
import type { LDAPAttributes } from "#gen/idsvc/resources/idp/v3alpha/ldap_pb.ts";
import { SAMLBinding, SAMLNameIDFormat } from "#gen/idsvc/resources/idp/v3alpha/saml_pb.ts";
import type { LdapConfig, ProviderConfig, SamlConfig } from "../../../federation/index.ts";
import type { IdpConfigs } from "../provider-types.ts";
import type { Idp } from "../reader.ts";

/** What the protocols need of a provider as it is stored. */
export function toProviderConfig({ type, config }: Idp): ProviderConfig {
  switch (type) {
    case "oidc":
      return { ...config, type };
    case "oauth":
      return { ...config, type };
    case "jwt":
      return { ...config, type };
    case "forge_a":
    case "forge_b":
    case "social_a":
      return { ...config, type };
    case "forge_a_es":
      return { ...config, type };
    case "forge_b_self_hosted":
      return { ...config, type };
    case "social_b":
      return { ...config, type };
    case "directory_a": {
      const { tenant, emailVerified: isEmailVerified, ...same } = config;
      return { ...same, type, tenant: tenantOf(tenant), isEmailVerified };
    }
    case "ldap":
      return toLdap(config);
    case "saml":
      return toSaml(config);
    default:
      return type satisfies never;
  }
}

const groups: Record<number, string> = {
  [DirectoryATenantType.ORGANISATIONS]: "organizations",
  [DirectoryATenantType.CONSUMERS]: "consumers",
};

function tenantOf(wanted: IdpConfigs["directory_a"]["tenant"]): string {
  const chosen = wanted?.tenant;
  if (chosen?.case === "tenantId") return chosen.value;
  return (chosen?.case === "tenantType" ? groups[chosen.value] : undefined) ?? "common";
}

function toLdap(config: IdpConfigs["ldap"]): LdapConfig {
  const { servers, startTls, baseDn, bindDn, userBase, userObjectClasses, userFilters } = config;
  const { attributes, rootCa, timeout } = config;
  return {
    type: "ldap",
    servers,
    startTls,
    baseDn,
    bindDn,
    userBase,
    userObjectClasses,
    userFilters,
    timeoutMs: timeout === undefined ? usualTimeoutMs : durationMs(timeout),
    attributes: attributes === undefined ? {} : toAttributes(attributes),
    rootCa: rootCa === undefined ? undefined : Buffer.from(rootCa).toString("utf8"),
  };
}
const usualTimeoutMs = 10_000;

function toAttributes(of: LDAPAttributes): LdapConfig["attributes"] {
  const all = {
    id: of.idAttribute,
    username: of.preferredUsernameAttribute,
    email: of.emailAttribute,
    isEmailVerified: of.emailVerifiedAttribute,
    firstName: of.firstNameAttribute,
    lastName: of.lastNameAttribute,
    displayName: of.displayNameAttribute,
    nickName: of.nickNameAttribute,
    preferredLanguage: of.preferredLanguageAttribute,
    phone: of.phoneAttribute,
    isPhoneVerified: of.phoneVerifiedAttribute,
    avatarUrl: of.avatarUrlAttribute,
    profile: of.profileAttribute,
  };
  return Object.fromEntries(Object.entries(all).filter(([, name]) => name));
}

const bindings: Record<number, SamlConfig["binding"]> = {
  [SAMLBinding.SAML_BINDING_POST]: "post",
  [SAMLBinding.SAML_BINDING_REDIRECT]: "redirect",
};
const formats: Record<number, SamlConfig["nameIdFormat"]> = {
  [SAMLNameIDFormat.SAML_NAME_ID_FORMAT_UNSPECIFIED]: "persistent",
  [SAMLNameIDFormat.SAML_NAME_ID_FORMAT_EMAIL_ADDRESS]: "email_address",
  [SAMLNameIDFormat.SAML_NAME_ID_FORMAT_PERSISTENT]: "persistent",
  [SAMLNameIDFormat.SAML_NAME_ID_FORMAT_TRANSIENT]: "transient",
};

function toSaml(config: IdpConfigs["saml"]): SamlConfig {
  const { metadata, binding, withSignedRequest, nameIdFormat } = config;
  return {
    type: "saml",
    metadata:
      metadata.case === "metadataUrl"
        ? { url: metadata.value }
        : { xml: Buffer.from(metadata.value ?? []).toString("utf8") },
    binding: bindings[binding],
    withSignedRequest,
    nameIdFormat: formats[nameIdFormat ?? 0] ?? "persistent",
    transientMappingAttribute: config.transientMappingAttributeName,
  };
}
