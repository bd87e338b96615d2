import { SetSecuritySettingsSchema } from "#gen/idsvc/settings/security/v3alpha/security_pb.ts";
import type { PolicyReader, SecurityPolicy } from "../../authz/policies.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { settingsReader } from "../object/contexts.ts";
import { millisecondsOf, textsOf } from "../object/convert.ts";
import { organizationRules } from "../object/floors.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

/** What counts where the instance does not set a property (specification 10.13). */
export const builtInSecurity = {
  enable_impersonation: false,
  allowed_frame_origins: [],
  allowed_link_hosts: [],
  related_origins: [],
  security_contacts: [],
  security_policy_url: "",
  console_session_lifetime: "43200s",
  console_idle_expiration: "3600s",
} satisfies Record<string, SettingValue>;

/** What an instance allows that is forbidden by default; an organization may forbid it again for itself. */
export const securitySettings = defineSettings(
  "security",
  ["instance", "org"],
  Object.keys(builtInSecurity),
  organizationRules(SetSecuritySettingsSchema, builtInSecurity),
);

export const securitySettingsReader = (db: Database): PolicyReader<SecurityPolicy> =>
  settingsReader(
    db,
    securitySettings,
    builtInSecurity,
    (value): SecurityPolicy => ({
      enableImpersonation: value("enable_impersonation") === true,
      allowedFrameOrigins: textsOf(value("allowed_frame_origins")),
      allowedLinkHosts: textsOf(value("allowed_link_hosts")),
      relatedOrigins: textsOf(value("related_origins")),
      securityContacts: textsOf(value("security_contacts")),
      securityPolicyUrl: String(value("security_policy_url")),
      consoleSessionMs: millisecondsOf(value("console_session_lifetime")),
      consoleIdleMs: millisecondsOf(value("console_idle_expiration")),
    }),
  );

/**
 * Whether the instance allows that people are acted for, and none of the organizations forbids it; judged in the unit that it is for,
 * which cannot commit once that has changed.
 */
export async function allowsImpersonation(
  tx: Transaction,
  instanceId: string,
  organizationIds: readonly string[],
): Promise<boolean> {
  const setIn = async (context: string) =>
    (await tx.load(securitySettings.aggregate, context)).state["enable_impersonation"];
  if (((await setIn(instanceId)) ?? builtInSecurity.enable_impersonation) !== true) return false;
  for (const id of new Set(organizationIds)) if ((await setIn(id)) === false) return false;
  return true;
}
