import {
  OIDCConfigSchema,
  PatchOIDCConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/oidc_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const oidc = providerType({
  number: ProviderType.OIDC,
  rpc: "OIDC",
  title: "OpenID Connect",
  config: OIDCConfigSchema,
  patch: PatchOIDCConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["openid", "profile", "email"] },
});
