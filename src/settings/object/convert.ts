import { fromJson, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  type Duration,
  DurationSchema,
  durationMs,
  timestampFromDate,
} from "@bufbuild/protobuf/wkt";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type {
  DetailsSchema,
  ResolvedBoolSchema,
  ResolvedDurationSchema,
  ResolvedStringSchema,
  ResolvedStringsSchema,
  ResolvedUInt64Schema,
  SetBool,
  SetDuration,
  SetString,
  SetStringLong,
  SetStringShort,
  SetStrings,
  SetUInt64,
} from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Change, ContextSettings, Resolved, SettingValue } from "./settings.ts";

const ownerTypes = {
  system: OwnerType.SYSTEM,
  instance: OwnerType.INSTANCE,
  org: OwnerType.ORG,
};

const toOwner = ({ type, id }: OwnerRef) => ({ type: ownerTypes[type], id });

export type Setter =
  | SetBool
  | SetDuration
  | SetString
  | SetStringLong
  | SetStringShort
  | SetStrings
  | SetUInt64;
type Wish = Extract<Setter["value"], { case: "set" }>["value"];

/** A setter's wish; nothing when the setter is absent or empty. */
export function toChange(setter: Setter | undefined): Change | undefined {
  switch (setter?.value.case) {
    case "set":
      return { set: toValue(setter.value.value) };
    case "reset":
      return { reset: true };
    default:
      return undefined;
  }
}

function toValue(wish: Wish): SettingValue {
  switch (typeof wish) {
    case "bigint":
      return String(wish);
    case "object":
      return "seconds" in wish ? durationText(wish) : [...wish.value];
    default:
      return wish;
  }
}

/** The wishes of several setters, by property. */
export function toChanges(setters: Record<string, Setter | undefined>): Record<string, Change> {
  const changes: Record<string, Change> = {};
  for (const [property, setter] of Object.entries(setters)) {
    const change = toChange(setter);
    if (change !== undefined) changes[property] = change;
  }
  return changes;
}

/** A duration as it is stored: the text of its JSON form, for example `1.5s`. */
export const durationText = (duration: Duration): string =>
  String(toJson(DurationSchema, duration));

const durationOf = (value: SettingValue): Duration => fromJson(DurationSchema, String(value));

/** A stored list of texts. */
export const textsOf = (value: SettingValue): readonly string[] =>
  Array.isArray(value) ? value : [];

/** A stored duration in milliseconds. */
export const millisecondsOf = (value: SettingValue): number => durationMs(durationOf(value));

/** The owner of an inherited value, as a member to spread; nothing where the value is the context's own. */
export const inheritedFrom = ({ owner }: Resolved) =>
  owner === undefined ? {} : { owner: toOwner(owner) };

export const toResolvedBool = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedBoolSchema> => ({
  value: resolved.value === true,
  ...inheritedFrom(resolved),
});

export const toResolvedUInt64 = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedUInt64Schema> => ({
  value: BigInt(String(resolved.value)),
  ...inheritedFrom(resolved),
});

export const toResolvedDuration = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedDurationSchema> => ({
  value: durationOf(resolved.value),
  ...inheritedFrom(resolved),
});

export const toResolvedString = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedStringSchema> => ({
  value: String(resolved.value),
  ...inheritedFrom(resolved),
});

export const toResolvedStrings = (
  resolved: Resolved,
): MessageInitShape<typeof ResolvedStringsSchema> => ({
  value: [...textsOf(resolved.value)],
  ...inheritedFrom(resolved),
});

/** The Details of a group of settings in a context; sequence 0 and no date where nothing was ever set. */
export const toSettingsDetails = ({
  owner,
  last,
}: Pick<ContextSettings, "owner" | "last">): MessageInitShape<typeof DetailsSchema> => ({
  sequence: last?.sequence ?? 0n,
  owner: toOwner(owner),
  ...(last === undefined ? {} : { changeDate: timestampFromDate(last.changeDate) }),
});
