import {
  ForgeAConfigSchema,
  PatchForgeAConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/forge_a_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const forgeA = providerType({
  number: ProviderType.FORGE_A,
  rpc: "ForgeA",
  title: "Forge A",
  config: ForgeAConfigSchema,
  patch: PatchForgeAConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
});
