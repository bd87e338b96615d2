import {
  ForgeBSelfHostedConfigSchema,
  PatchForgeBSelfHostedConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/forge_b_self_hosted_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const forgeBSelfHosted = providerType({
  number: ProviderType.FORGE_B_SELF_HOSTED,
  rpc: "ForgeBSelfHosted",
  title: "Forge B",
  config: ForgeBSelfHostedConfigSchema,
  patch: PatchForgeBSelfHostedConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["openid", "profile", "email"] },
});
