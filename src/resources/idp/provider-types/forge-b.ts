import {
  ForgeBConfigSchema,
  PatchForgeBConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/forge_b_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const forgeB = providerType({
  number: ProviderType.FORGE_B,
  rpc: "ForgeB",
  title: "Forge B",
  config: ForgeBConfigSchema,
  patch: PatchForgeBConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["openid", "profile", "email"] },
});
