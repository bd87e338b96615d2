import { isDeepStrictEqual } from "node:util";
import type { DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import type { Scope } from "../../authz/context.ts";
import { type Handlers, service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { type OwnCalls, settingsCalls } from "./calls.ts";
import { organizationRules } from "./floors.ts";
import type { SettingsGroup, SettingValue } from "./settings.ts";

/**
 * The module of a group of settings whose service sets and resolves them: the messages of both have a field for each property, of its
 * name. Who may is judged on the context of the call.
 *
 * @param own what is done otherwise than the values of properties say, and the rest of the module
 * @throws Error at start, where the service has no such methods, or the options of its message say other rules than the group
 */
export function settingsModule(
  description: DescService,
  group: SettingsGroup,
  builtIn: Readonly<Record<string, SettingValue>>,
  {
    calls: ownCalls,
    ...own
  }: { calls?: OwnCalls } & Pick<Module, "state" | "contents" | "begins"> = {},
): Module {
  const set = methodOf(description, "set");
  const resolve = methodOf(description, "resolve");
  const messages = { set: settingsOf(set.input), resolved: settingsOf(resolve.output), builtIn };
  if (!isDeepStrictEqual(organizationRules(messages.set, builtIn), group.rules)) {
    throw new Error(`${messages.set.typeName} says other rules for organizations than its group`);
  }
  return {
    events: [group.events],
    projections: [group.projection],
    services(deps) {
      const calls = settingsCalls(deps, group, messages, ownCalls);
      const check = deps.tenancy.requireOnContext;
      const handlers = {
        [set.localName]: ({ settings }: { settings: object }, scope: Scope) =>
          calls.set(settings, scope),
        [resolve.localName]: (_: unknown, scope: Scope) => calls.resolve(scope),
      };
      const authorize = { [set.localName]: check, [resolve.localName]: check };
      // The methods are those of the service by their names, and their messages were looked at above.
      return [service(description, handlers as Handlers<DescService>, authorize)];
    },
    ...own,
  };
}

function methodOf({ methods, typeName }: DescService, verb: string): DescMethod {
  const found = methods.find(({ localName }) => localName.startsWith(verb));
  if (found === undefined) throw new Error(`${typeName} has no method that begins with ${verb}`);
  return found;
}

function settingsOf({ field, typeName }: DescMessage): DescMessage {
  const { message } = field["settings"] ?? {};
  if (message === undefined) throw new Error(`${typeName} has no settings`);
  return message;
}
