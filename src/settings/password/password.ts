import { SetPasswordSettingsSchema } from "#gen/idsvc/settings/password/v3alpha/password_pb.ts";
import type { PasswordPolicy, PolicyReader } from "../../authz/policies.ts";
import type { Begin } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { setFirst, settingsReader } from "../object/contexts.ts";
import { organizationRules } from "../object/floors.ts";
import { defineSettings } from "../object/settings.ts";
import { builtInPasswords, firstPasswords, passwordPolicyOf } from "../policy/password.ts";

/** What passwords must be like, set for an instance or for an organization. */
export const passwordSettings = defineSettings(
  "password",
  ["instance", "org"],
  Object.keys(builtInPasswords),
  organizationRules(SetPasswordSettingsSchema, builtInPasswords),
);

export const beginPasswords: Begin = (tx, { id, isLocal }) =>
  setFirst(tx, passwordSettings, id, firstPasswords(isLocal));

export const passwordPolicyReader = (db: Database): PolicyReader<PasswordPolicy> =>
  settingsReader(db, passwordSettings, builtInPasswords, passwordPolicyOf);
