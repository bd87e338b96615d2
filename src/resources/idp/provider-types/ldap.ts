import {
  LDAPConfigSchema,
  PatchLDAPConfigSchema,
} from "#gen/idsvc/resources/idp/v3alpha/ldap_pb.ts";
import { ProviderType } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import { providerType } from "../provider-type.ts";

export const ldap = providerType({
  number: ProviderType.LDAP,
  rpc: "LDAP",
  title: "LDAP",
  config: LDAPConfigSchema,
  patch: PatchLDAPConfigSchema,
  secret: "bind_password",
  // Whom the servers are trusted by counts too: another authority could vouch for another server.
  secretBoundFields: ["servers", "start_tls", "root_ca"],
  urls: [],
  defaults: {
    user_base: "dn",
    user_object_classes: ["inetOrgPerson"],
    user_filters: ["uid"],
    timeout: "10s",
  },
});
