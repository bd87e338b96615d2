import {
  ForgeAESConfigSchema,
  PatchForgeAESConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/forge_a_es_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const forgeAEs = providerType({
  number: ProviderType.FORGE_A_ES,
  rpc: "ForgeAES",
  title: "Forge A",
  config: ForgeAESConfigSchema,
  patch: PatchForgeAESConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["authorization_endpoint", "token_endpoint", "user_endpoint"],
  urls: ["authorization_endpoint", "token_endpoint", "user_endpoint"],
});
