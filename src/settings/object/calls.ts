import type { DescMessage } from "@bufbuild/protobuf";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { changeSettings, resolvedSettings } from "./contexts.ts";
import {
  type Setter,
  toChange,
  toResolvedBool,
  toResolvedDuration,
  toResolvedString,
  toResolvedStrings,
  toResolvedUInt64,
  toSettingsDetails,
} from "./convert.ts";
import {
  type Change,
  type Resolved,
  resolve,
  type SettingsGroup,
  type SettingValue,
} from "./settings.ts";

/** A property whose fields are of no generic value type. */
export type OwnType = {
  /** @throws INVALID_ARGUMENT for what the rules of the schema cannot see */
  wish(setter: unknown): Change | undefined;
  tell(resolved: Resolved, issuer: string): object;
};

type SettingsMessages = {
  set: DescMessage;
  resolved: DescMessage;
  builtIn: Readonly<Record<string, SettingValue>>;
};

/** What a group does otherwise than the values of its properties say. */
export type OwnCalls = {
  ownTypes?: Readonly<Record<string, OwnType>>;
  /** What else is asked, and done, in the unit that writes them; `settings` is the message of the request. */
  during?: (
    tx: Transaction,
    scope: Scope,
    asked: { settings: object | undefined; changed: ReadonlySet<string> },
  ) => Promise<void>;
};

const resolvedTypes: Readonly<Record<string, OwnType["tell"]>> = {
  "idsvc.settings.object.v3alpha.ResolvedBool": toResolvedBool,
  "idsvc.settings.object.v3alpha.ResolvedString": toResolvedString,
  "idsvc.settings.object.v3alpha.ResolvedStrings": toResolvedStrings,
  "idsvc.settings.object.v3alpha.ResolvedUInt64": toResolvedUInt64,
  "idsvc.settings.object.v3alpha.ResolvedDuration": toResolvedDuration,
};

/**
 * The two calls of a group whose messages have a field for each property, of its name.
 *
 * @throws Error at start, when a property has no field of its name, or a field no property
 */
export function settingsCalls(
  deps: Pick<Deps, "db" | "events" | "tenancy">,
  group: SettingsGroup,
  { set, resolved, builtIn }: SettingsMessages,
  { ownTypes = {}, during }: OwnCalls = {},
) {
  for (const { fields, typeName } of [set, resolved]) {
    const names = fields.map(({ name }) => name).toSorted();
    if (names.join() === [...group.properties].toSorted().join()) continue;
    throw new Error(`the fields of ${typeName} are not the properties of ${group.name} settings`);
  }
  const answers = resolved.fields.map(({ name, localName, message }) => {
    const convert = ownTypes[name]?.tell ?? resolvedTypes[message?.typeName ?? ""];
    const value = builtIn[name];
    if (convert === undefined || value === undefined) {
      throw new Error(`the field ${name} of ${resolved.typeName} cannot be resolved`);
    }
    return { name, localName, convert, value };
  });
  const resolveAll = resolvedSettings(deps.db, group, (chain, issuer) => {
    const [own] = chain;
    if (own === undefined) throw new Error("a chain of contexts has at least one");
    const settings = Object.fromEntries(
      answers.map(({ name, localName, convert, value }) => [
        localName,
        convert(resolve(chain, name, value), issuer),
      ]),
    );
    return { details: toSettingsDetails(own), settings };
  });

  return {
    async set(settings: object | undefined, scope: Scope) {
      const wished: Record<string, Change> = {};
      for (const { name, localName } of set.fields) {
        const setter: unknown = Reflect.get(Object(settings), localName);
        // A field that has no type of its own is a setter: the names of the value types come in pairs.
        const own = ownTypes[name];
        const change = own ? own.wish(setter) : toChange(setter as Setter | undefined);
        if (change !== undefined) wished[name] = change;
      }
      const written = await changeSettings(deps, group, scope, wished, async (tx, changed) =>
        during?.(tx, scope, { settings, changed }),
      );
      return { details: toSettingsDetails(written) };
    },

    resolve: resolveAll,
  };
}
