import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ResolvedLanguagesSchema,
  SetLanguageSettings,
} from "#gen/idsvc/settings/language/v3alpha/language_pb.ts";
import type { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { mayOn } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { changeSettings, resolvedSettings } from "../object/contexts.ts";
import { inheritedFrom, textsOf, toResolvedString, toSettingsDetails } from "../object/convert.ts";
import { type Change, type Resolved, resolve, systemOwner } from "../object/settings.ts";
import {
  builtInLanguages,
  languageSettings,
  requireFitting,
  requireSupported,
  supportedLanguages,
} from "../policy/language.ts";

/** Everybody may read those of the instance and of their own organization (B4). */
export function languageAuthorize(deps: Deps): Authorize<typeof LanguageService> {
  const onContext = deps.tenancy.requireOnContext;
  return {
    async setLanguages(request, scope) {
      const { context, policy } = scope;
      if (
        context.type === "organization" &&
        isAtHome(scope) &&
        !mayOn(scope, policy.act, context)
      ) {
        throw permissionMissing(policy.act);
      }
      await onContext(request, scope);
    },
    async resolveLanguages(request, scope) {
      if (scope.context.type === "organization" && !isAtHome(scope))
        await onContext(request, scope);
    },
  };
}

const isAtHome = ({ context, caller }: Scope): boolean =>
  context.type === "organization" &&
  caller.kind === "user" &&
  caller.organizationId === context.organizationId;

export function languageHandlers(deps: Deps): Handlers<typeof LanguageService> {
  const { aggregate } = languageSettings;
  const resolved = resolvedSettings(deps.db, languageSettings, (chain) => {
    const [own] = chain;
    const at = (property: keyof typeof builtInLanguages) =>
      resolve(chain, property, builtInLanguages[property]);
    return {
      ...(own === undefined ? {} : { details: toSettingsDetails(own) }),
      settings: {
        defaultLanguage: toResolvedString(at("default_language")),
        restrictedLanguages: toResolvedLanguages(at("restricted_languages")),
        supportedLanguages: toResolvedLanguages({
          value: [...supportedLanguages],
          owner: systemOwner,
        }),
      },
    };
  });

  return {
    async setLanguages({ settings }, scope) {
      const { context, instanceId } = scope;
      const wished = toWishes(settings);
      const changed = await changeSettings(deps, languageSettings, scope, wished, async (tx) => {
        if (Object.keys(wished).length === 0) return;
        const ids =
          context.type === "organization" ? [context.organizationId, instanceId] : [instanceId];
        const loaded = await Promise.all(ids.map((id) => tx.load(aggregate, id)));
        requireFitting(
          loaded.map(({ state }) => state),
          wished,
        );
      });
      return { details: toSettingsDetails(changed) };
    },

    resolveLanguages: (_, scope) => resolved(scope),
  };
}

/** An empty restriction is none: what the parent context says counts again (S1). */
function toWishes(settings: SetLanguageSettings | undefined): Record<string, Change> {
  const wished: Record<string, Change> = {};
  const chosen = settings?.defaultLanguage?.key;
  if (chosen !== undefined) {
    requireSupported([chosen], "settings.default_language");
    wished["default_language"] = { set: chosen };
  }
  if (settings?.resetDefaultLanguage) wished["default_language"] = { reset: true };
  const list = settings?.restrictedLanguages?.languages.map(({ key }) => key);
  if (list !== undefined) {
    requireSupported(list, "settings.restricted_languages");
    wished["restricted_languages"] =
      list.length === 0 ? { reset: true } : { set: [...new Set(list)] };
  }
  return wished;
}

const toResolvedLanguages = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedLanguagesSchema> => ({
  value: textsOf(resolved.value).map((key) => ({ key })),
  ...inheritedFrom(resolved),
});
