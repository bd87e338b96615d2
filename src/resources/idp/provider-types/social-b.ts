import {
  SocialBConfigSchema,
  PatchSocialBConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/social_b_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const socialB = providerType({
  number: ProviderType.SOCIAL_B,
  rpc: "SocialB",
  title: "Social B",
  config: SocialBConfigSchema,
  patch: PatchSocialBConfigSchema,
  secret: "private_key",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["name", "email"] },
});
