import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { DetailsSchema } from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { EventStore } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { current } from "../../storage/read-cache.ts";
import { changeSettings, requireLevel, settingsChain } from "./contexts.ts";
import {
  type Setter,
  toChanges,
  toResolvedBool,
  toResolvedDuration,
  toResolvedString,
  toResolvedStrings,
  toResolvedUInt64,
  toSettingsDetails,
} from "./convert.ts";
import { type Resolved, resolve, type SettingsGroup, type SettingValue } from "./settings.ts";

type Told = { details: MessageInitShape<typeof DetailsSchema> };

/** The two calls of a group whose messages have a field of a generic value type for each property, of its name. */
export type SettingsCalls<S extends DescMessage, R extends DescMessage> = {
  set(settings: MessageShape<S> | undefined, scope: Scope): Promise<Told>;
  resolve(scope: Scope): Promise<Told & { settings: MessageInitShape<R> }>;
};

const resolvedTypes: Readonly<Record<string, (resolved: Resolved) => object>> = {
  "idsvc.settings.object.v3alpha.ResolvedBool": toResolvedBool,
  "idsvc.settings.object.v3alpha.ResolvedString": toResolvedString,
  "idsvc.settings.object.v3alpha.ResolvedStrings": toResolvedStrings,
  "idsvc.settings.object.v3alpha.ResolvedUInt64": toResolvedUInt64,
  "idsvc.settings.object.v3alpha.ResolvedDuration": toResolvedDuration,
};

/**
 * The calls of a group of settings.
 *
 * @param check what must hold of an organization while its settings are written
 * @throws Error at start, when a property has no field of its name, or a field no property
 */
export function settingsCalls<S extends DescMessage, R extends DescMessage>(
  { db, events }: { db: Database; events: EventStore },
  group: SettingsGroup,
  messages: { set: S; resolved: R; builtIn: Readonly<Record<string, SettingValue>> },
  check?: (tx: Transaction, organizationId: string) => Promise<void>,
): SettingsCalls<S, R> {
  const { set, resolved, builtIn } = messages;
  const chainOf = current(db, settingsChain(db, group));
  for (const { fields, typeName } of [set, resolved]) {
    const names = fields.map(({ name }) => name).toSorted();
    if (names.join() === [...group.properties].toSorted().join()) continue;
    throw new Error(`the fields of ${typeName} are not the properties of ${group.name} settings`);
  }
  const answers = resolved.fields.map(({ name, localName, message }) => {
    const convert = resolvedTypes[message?.typeName ?? ""];
    const value = builtIn[name];
    if (convert === undefined || value === undefined) {
      throw new Error(`the field ${name} of ${resolved.typeName} cannot be resolved`);
    }
    return { name, localName, convert, value };
  });

  return {
    async set(settings, scope) {
      // That the fields are setters is what the loops above and the schema's value types say.
      const setters = set.fields.map(({ name, localName }): [string, Setter | undefined] => [
        name,
        Reflect.get(Object(settings), localName) as Setter | undefined,
      ]);
      const { context } = scope;
      const wished = toChanges(Object.fromEntries(setters));
      const changed = await changeSettings(events, group, scope, wished, async (tx) => {
        if (context.type === "organization") await check?.(tx, context.organizationId);
      });
      return { details: toSettingsDetails(changed) };
    },

    async resolve(scope) {
      requireLevel(group, scope);
      const { instanceId, context } = scope;
      const chain = await chainOf(
        instanceId,
        context.type === "organization" ? context.organizationId : undefined,
      );
      const [own] = chain;
      if (own === undefined) throw new Error("a chain of contexts has at least one");
      const settings = Object.fromEntries(
        answers.map(({ name, localName, convert, value }) => [
          localName,
          convert(resolve(chain, name, value)),
        ]),
      );
      // The pairing of fields and values is checked above, at start.
      return {
        details: toSettingsDetails(own),
        settings: settings as MessageInitShape<R>,
      };
    },
  };
}
