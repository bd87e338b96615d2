import type { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { changeSettings, settingsChain } from "../object/contexts.ts";
import {
  toChanges,
  toResolvedBool,
  toResolvedDuration,
  toResolvedUInt64,
  toSettingsDetails,
} from "../object/convert.ts";
import { resolve } from "../object/settings.ts";
import { builtInPasswords, type PasswordProperty, passwordSettings } from "./password.ts";

export function passwordSettingsHandlers({
  db,
  events,
}: Deps): Handlers<typeof PasswordSettingsService> {
  const chainOf = settingsChain(db, passwordSettings);

  return {
    async setPasswordSettings({ settings }, scope) {
      const wished = toChanges({
        min_length: settings?.minLength,
        requires_uppercase: settings?.requiresUppercase,
        requires_lowercase: settings?.requiresLowercase,
        requires_number: settings?.requiresNumber,
        requires_symbol: settings?.requiresSymbol,
        blocklist: settings?.blocklist,
        max_age: settings?.maxAge,
      });
      const { context } = scope;
      const changed = await changeSettings(events, passwordSettings, scope, wished, async (tx) => {
        if (context.type === "organization") await requireOrganization(tx, context.organizationId);
      });
      return { details: toSettingsDetails(changed) };
    },

    async resolvePasswordSettings(_, { instanceId, context }) {
      const contexts = await chainOf(
        instanceId,
        context.type === "organization" ? context.organizationId : undefined,
      );
      const [own] = contexts;
      const at = (name: PasswordProperty) => resolve(contexts, name, builtInPasswords[name]);
      return {
        ...(own === undefined ? {} : { details: toSettingsDetails(own) }),
        settings: {
          minLength: toResolvedUInt64(at("min_length")),
          requiresUppercase: toResolvedBool(at("requires_uppercase")),
          requiresLowercase: toResolvedBool(at("requires_lowercase")),
          requiresNumber: toResolvedBool(at("requires_number")),
          requiresSymbol: toResolvedBool(at("requires_symbol")),
          blocklist: toResolvedBool(at("blocklist")),
          maxAge: toResolvedDuration(at("max_age")),
        },
      };
    },
  };
}
