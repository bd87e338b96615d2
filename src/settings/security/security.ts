import type { Database } from "../../storage/database.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { textsOf } from "../object/convert.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

/** What counts where the instance does not set a property (specification 10.13). */
export const builtInSecurity = {
  enable_impersonation: false,
  allowed_frame_origins: [],
  allowed_link_hosts: [],
  related_origins: [],
} satisfies Record<string, SettingValue>;

/** What an instance allows that is forbidden by default. No organization decides that for the others. */
export const securitySettings = defineSettings(
  "security",
  ["instance"],
  Object.keys(builtInSecurity),
);

export type SecurityPolicy = {
  enableImpersonation: boolean;
  /** Fit for `frame-ancestors` as they are: scheme, host and port, nothing else. */
  allowedFrameOrigins: readonly string[];
  /** Where links in messages may lead beside the domains of the instance: host, and port where it is another than usual. */
  allowedLinkHosts: readonly string[];
  /** Whose pages may use the instance's passkeys beside its own; as browsers send them. */
  relatedOrigins: readonly string[];
};

export const securitySettingsReader = (db: Database): SettingsReader<SecurityPolicy> =>
  settingsReader(
    db,
    securitySettings,
    builtInSecurity,
    (value): SecurityPolicy => ({
      enableImpersonation: value("enable_impersonation") === true,
      allowedFrameOrigins: textsOf(value("allowed_frame_origins")),
      allowedLinkHosts: textsOf(value("allowed_link_hosts")),
      relatedOrigins: textsOf(value("related_origins")),
    }),
  );
