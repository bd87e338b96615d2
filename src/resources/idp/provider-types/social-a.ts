import {
  SocialAConfigSchema,
  PatchSocialAConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/social_a_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const socialA = providerType({
  number: ProviderType.SOCIAL_A,
  rpc: "SocialA",
  title: "Social A",
  config: SocialAConfigSchema,
  patch: PatchSocialAConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["openid", "profile", "email"] },
});
