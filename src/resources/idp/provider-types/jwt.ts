import { JWTConfigSchema, PatchJWTConfigSchema } from "#gen/idsvc/resources/idp/v3alpha/jwt_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const jwt = providerType({
  number: ProviderType.JWT,
  rpc: "JWT",
  title: "JWT",
  config: JWTConfigSchema,
  patch: PatchJWTConfigSchema,
  secretBoundFields: [],
  urls: ["issuer", "jwt_endpoint", "keys_endpoint"],
});
