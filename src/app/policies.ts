import type { Policies } from "../authz/policies.ts";
import { passwordPolicyReader } from "../settings/password/index.ts";
import { allowsImpersonation, securitySettingsReader } from "../settings/security/index.ts";
import type { Database } from "../storage/database.ts";

/** What is in force of the settings of instances and organizations. */
export const policiesOf = (db: Database): Policies => ({
  passwords: passwordPolicyReader(db),
  security: securitySettingsReader(db),
  allowsImpersonation,
});
