import {
  SAMLConfigSchema,
  PatchSAMLConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/saml_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const saml = providerType({
  number: ProviderType.SAML,
  rpc: "SAML",
  title: "SAML",
  config: SAMLConfigSchema,
  patch: PatchSAMLConfigSchema,
  secretBoundFields: [],
  urls: ["metadata_url"],
});
