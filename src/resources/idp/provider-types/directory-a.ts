import {
  DirectoryAConfigSchema,
  PatchDirectoryAConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/directory_a_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const directoryA = providerType({
  number: ProviderType.DIRECTORY_A,
  rpc: "DirectoryA",
  title: "Directory A",
  config: DirectoryAConfigSchema,
  patch: PatchDirectoryAConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["issuer"],
  urls: ["issuer"],
  defaults: { scopes: ["openid", "profile", "email", "User.Read"] },
});
