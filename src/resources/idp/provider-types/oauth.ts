import {
  OAuthConfigSchema,
  PatchOAuthConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/oauth_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const oauth = providerType({
  number: ProviderType.OAUTH,
  rpc: "OAuth",
  title: "OAuth",
  config: OAuthConfigSchema,
  patch: PatchOAuthConfigSchema,
  secret: "client_secret",
  secretBoundFields: ["authorization_endpoint", "token_endpoint", "user_endpoint"],
  urls: ["authorization_endpoint", "token_endpoint", "user_endpoint"],
});
