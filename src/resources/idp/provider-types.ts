import { directoryA } from "./provider-types/directory-a.ts";
import { forgeA } from "./provider-types/forge-a.ts";
import { forgeAEs } from "./provider-types/forge-a-es.ts";
import { forgeB } from "./provider-types/forge-b.ts";
import { forgeBSelfHosted } from "./provider-types/forge-b-self-hosted.ts";
import { jwt } from "./provider-types/jwt.ts";
import { ldap } from "./provider-types/ldap.ts";
import { oauth } from "./provider-types/oauth.ts";
import { oidc } from "./provider-types/oidc.ts";
import { saml } from "./provider-types/saml.ts";
import { socialA } from "./provider-types/social-a.ts";
import { socialB } from "./provider-types/social-b.ts";
import type { MessageShape } from "@bufbuild/protobuf";

/** Every type of providers, by its name in paths and events; a new one is a file and a line here. */
export const providerTypes = {
  oidc,
  oauth,
  jwt,
  ldap,
  directory_a: directoryA,
  forge_a: forgeA,
  forge_a_es: forgeAEs,
  forge_b: forgeB,
  forge_b_self_hosted: forgeBSelfHosted,
  social_a: socialA,
  social_b: socialB,
  saml,
} as const;

export type IdpType = keyof typeof providerTypes;

export const idpTypes = Object.keys(providerTypes) as IdpType[];

/** The configuration of each type, as the schema has it; its secret is never in it. */
export type IdpConfigs = {
  [T in IdpType]: MessageShape<(typeof providerTypes)[T]["config"]>;
};
