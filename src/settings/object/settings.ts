import { equals } from "../../projection/rows.ts";
import { failedPrecondition } from "../../errors.ts";
import { aggregate, type Aggregate } from "../../eventstore/aggregate.ts";
import {
  type AnyEvents,
  defineEvents,
  type NewEvent,
  type OwnerRef,
  payload,
  type Payload,
  type Recorded,
} from "../../eventstore/event.ts";
import { on, type Projection, projection, touch } from "../../projection/projection.ts";
import { deleteRows, putRow, type RowChange } from "../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../storage/table.ts";
import type { Database } from "../../storage/database.ts";
import { isAsStrict, type OrganizationRules, requireAsStrict } from "./floors.ts";

/** A value of a setting as it is stored: 64-bit numbers and durations as text. */
export type SettingValue = string | boolean | string[];

/** The log of the system context. */
export const systemLog = "system";
export const systemOwner: OwnerRef = { type: "system", id: "" };

/** Values that are set, a row each; what is not here is inherited. */
export const settingValues = table(
  "setting_values",
  {
    instanceId: text(),
    ownerType: text(),
    ownerId: text(),
    settingGroup: text(),
    property: text(),
    value: json<SettingValue>(),
    /** Who set it: their power bounds whom some settings count for (J9). */
    editorId: text(),
  },
  { key: ["instanceId", "ownerType", "ownerId", "settingGroup", "property"] },
);

/** The last change of a group of settings in a context. */
export const settingContexts = table(
  "setting_contexts",
  {
    instanceId: text(),
    ownerType: text(),
    ownerId: text(),
    settingGroup: text(),
    sequence: int64(),
    changeDate: instant(),
  },
  { key: ["instanceId", "ownerType", "ownerId", "settingGroup"] },
);

/** What an event says: the value where one is set, and the property where its name does not tell. */
type SettingPayload = { property?: string; value?: SettingValue };
type SettingEvent = NewEvent<string, SettingPayload>;

/** The property that an event is about. */
export const propertyOf = ({ type, payload: { property } }: SettingEvent): string =>
  property ?? type.split(".").at(-2) ?? "";

/** What is set in one context, by property. */
export type SetValues = Readonly<Record<string, SettingValue>>;

/** A wish for one property: a value, or back to the parent's. */
export type Change = { set: SettingValue } | { reset: true };

export type SettingsGroup = {
  name: string;
  /** The contexts it can be set in. */
  levels: readonly OwnerRef["type"][];
  properties: readonly string[];
  rules: OrganizationRules;
  events: AnyEvents<SettingEvent>;
  aggregate: Aggregate<SetValues, SettingEvent>;
  projection: Projection;
  /**
   * The events that bring a context from what is set to what is wished; nothing where nothing differs.
   *
   * @param demanded what the instance has set, where the context is an organization (`demandedOf`)
   * @throws FAILED_PRECONDITION SETTING_OF_INSTANCE, LOOSER_THAN_INSTANCE
   */
  decide(
    level: OwnerRef["type"],
    current: SetValues,
    wished: Readonly<Record<string, Change>>,
    demanded: SetValues,
  ): SettingEvent[];
};

const noRules: OrganizationRules = { ofInstance: [], floors: {}, demanded: {} };

/**
 * Defines a group of settings: properties that can be set in some contexts, and fall back to the parent context and
 * last to the built-in value (S3). Those of the instance alone no organization sets (J10), though
 * older stores have events of those that organizations set once; those with a floor they set as strictly as the instance
 * has, or more (J16). Each property has its own events:
 * `<group>.<level>.<property>.set|reset`.
 */
export function defineSettings(
  name: string,
  levels: readonly OwnerRef["type"][],
  properties: readonly string[],
  rules = noRules,
  onceOfOrganizations: readonly string[] = [],
): SettingsGroup {
  const has = (level: OwnerRef["type"], property: string): boolean =>
    level !== "org" ||
    !rules.ofInstance.includes(property) ||
    onceOfOrganizations.includes(property);
  const prefixes = levels.flatMap((level) =>
    properties.filter((property) => has(level, property)).map((each) => `${level}.${each}`),
  );
  const group = { name, levels, properties, rules };
  return settingsGroup(group, prefixes, (level, property) => ({
    type: `${name}.${level}.${property}`,
    about: {},
  }));
}

/**
 * A group whose properties are too many for events of their own, as texts are. Its events are `<group>.<level>.set|reset`,
 * and name the property.
 */
export const defineManySettings = (
  name: string,
  levels: readonly OwnerRef["type"][],
): SettingsGroup => {
  const group = { name, levels, properties: [], rules: noRules };
  return settingsGroup(group, levels, (level, property) => ({
    type: `${name}.${level}`,
    about: { property },
  }));
};

function settingsGroup(
  group: Pick<SettingsGroup, "name" | "levels" | "properties" | "rules">,
  prefixes: readonly string[],
  eventOf: (
    level: OwnerRef["type"],
    property: string,
  ) => { type: string; about: { property?: string } },
): SettingsGroup {
  const { name } = group;
  const payloads: Record<string, Payload<SettingPayload>> = Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}.set`, payload()],
      [`${prefix}.reset`, payload()],
    ]),
  );
  const events: AnyEvents<SettingEvent> = defineEvents(name, payloads);
  const types = Object.keys(payloads).map((key) => `${name}.${key}`);
  const initial: SetValues = {};
  const evolve = (state: SetValues, event: SettingEvent): SetValues => {
    const { [propertyOf(event)]: _, ...others } = state;
    const { value } = event.payload;
    return value === undefined ? others : { ...others, [propertyOf(event)]: value };
  };

  return {
    ...group,
    events,
    aggregate: aggregate(events, initial, evolve),
    projection: settingsProjection(name, events, types),
    decide(level, current, wished, demanded) {
      if (level === "org") requireOwn(group.rules, wished, demanded);
      return Object.entries(wished).flatMap(([property, change]): SettingEvent[] => {
        const { type, about } = eventOf(level, property);
        if ("reset" in change) {
          return property in current ? [{ type: `${type}.reset`, payload: about }] : [];
        }
        const same = JSON.stringify(current[property]) === JSON.stringify(change.set);
        return same ? [] : [{ type: `${type}.set`, payload: { ...about, value: change.set } }];
      });
    },
  };
}

/** Refuses what no organization may say. Back to the instance's is always open: its own value counts for nothing. */
function requireOwn(
  { ofInstance, floors, demanded: builtIn }: OrganizationRules,
  wished: Readonly<Record<string, Change>>,
  demanded: SetValues,
): void {
  for (const [property, change] of Object.entries(wished)) {
    if (!("set" in change)) continue;
    if (ofInstance.includes(property)) throw ofInstanceAlone(property);
    requireAsStrict(floors, property, change.set, demanded[property] ?? builtIn[property]);
  }
}

function ofInstanceAlone(property: string) {
  const [field, reason] = [`settings.${property}`, "SETTING_OF_INSTANCE"];
  const description =
    "set for the instance alone: leave it out, or leave out ctx and the header x-idsvc-orgid";
  return failedPrecondition(reason, `${field}: ${description}`, {
    violations: [{ field, description, reason }],
    metadata: { property },
  });
}

/** What an organization has set that counts there: neither what is the instance's alone, nor what is looser. */
export function countingValues(
  { rules }: SettingsGroup,
  own: SetValues,
  ofInstance: SetValues,
): SetValues {
  const { floors, demanded } = rules;
  const counts = ([property, value]: [string, SettingValue]): boolean =>
    !rules.ofInstance.includes(property) &&
    isAsStrict(floors[property], value, ofInstance[property] ?? demanded[property]);
  const all = Object.entries(own);
  return all.every(counts) ? own : Object.fromEntries(all.filter(counts));
}

function settingsProjection(
  name: string,
  events: AnyEvents<SettingEvent>,
  types: readonly string[],
): Projection {
  type Reduce = NonNullable<Parameters<typeof on<SettingEvent>>[1][string]>;
  const reduce: Reduce = (event) => {
    const context = {
      instanceId: event.instanceId,
      ownerType: event.owner.type,
      ownerId: event.owner.id,
      settingGroup: name,
    };
    const property = propertyOf(event);
    const { value } = event.payload;
    return [
      value !== undefined
        ? putRow(settingValues, { ...context, property, value, editorId: event.editorId })
        : deleteRows(settingValues, { ...context, property }),
      putRow(settingContexts, { ...context, ...touch(event) }),
    ];
  };
  return projection(
    `settings.${name}`,
    [],
    on(events, Object.fromEntries(types.map((type) => [type, reduce]))),
  );
}

/** The tables of all settings; registered once, fed by the projection of each group and by what ends contexts. */
export const settingsTables = (...endings: ReturnType<typeof on>[]): Projection =>
  projection("settings", [settingValues, settingContexts], ...endings);

/** What an organization had set goes with it. */
export function forgetSettings({ instanceId, aggregateId: ownerId }: Recorded): RowChange[] {
  const ofOrganization = { instanceId, ownerType: "org", ownerId };
  return [deleteRows(settingValues, ofOrganization), deleteRows(settingContexts, ofOrganization)];
}

export type ContextSettings = {
  owner: OwnerRef;
  values: SetValues;
  last: { sequence: bigint; changeDate: Date } | undefined;
};

/** What is set in one context. */
export async function readSettings(
  db: Database,
  group: string,
  instanceId: string,
  owner: OwnerRef,
): Promise<ContextSettings> {
  const v = db.table(settingValues);
  const c = db.table(settingContexts);
  const where = { instanceId, ownerType: owner.type, ownerId: owner.id, settingGroup: group };
  const [values, contexts] = await db.snapshot((read) => [
    read
      .select({ property: v.property, value: v.value })
      .from(v)
      .where(equals(db, settingValues, where)),
    read
      .select({ sequence: c.sequence, changeDate: c.changeDate })
      .from(c)
      .where(equals(db, settingContexts, where)),
  ]);
  return {
    owner,
    values: Object.fromEntries(values.map(({ property, value }) => [property, value])),
    last: contexts[0],
  };
}

/** A value with the context it comes from, if that is not the one that was asked. */
export type Resolved = { value: SettingValue; owner: OwnerRef | undefined };

/**
 * Resolves a property over a chain of contexts, nearest first; the built-in value belongs to the system
 * (S3).
 */
export function resolve(
  chain: readonly ContextSettings[],
  property: string,
  builtIn: SettingValue,
): Resolved {
  const at = chain.findIndex(({ values }) => property in values);
  const found = chain[at];
  if (found === undefined) {
    return { value: builtIn, owner: chain[0]?.owner.type === "system" ? undefined : systemOwner };
  }
  return { value: found.values[property] ?? builtIn, owner: at === 0 ? undefined : found.owner };
}
