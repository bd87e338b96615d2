import { type DescMessage, getOption } from "@bufbuild/protobuf";
import { Floor, built_in_demands, floor, of_instance } from "#gen/idsvc/options/v1/options_pb.ts";
import { failedPrecondition } from "../../errors.ts";
import type { SettingValue, SetValues } from "./settings.ts";

/** What values of the instance demand of its organizations, by property; of those that are not here, nothing. */
export type Floors = Readonly<Record<string, Floor>>;

/** What organizations may make of a group of settings. */
export type OrganizationRules = {
  /** Properties that no organization can set: what one has stored does not count. */
  ofInstance: readonly string[];
  /** Those in which an organization is as strict as the instance, or stricter. */
  floors: Floors;
  /** What is built in and demands as much as what the instance has set. */
  demanded: SetValues;
};

/** The same, as the options of the message say that sets them. */
export function organizationRules({ fields }: DescMessage, builtIn: SetValues): OrganizationRules {
  const floors = fields.map((field) => [field.name, getOption(field, floor)] as const);
  const demanding = fields.filter((field) => getOption(field, built_in_demands));
  return {
    ofInstance: fields.filter((field) => getOption(field, of_instance)).map(({ name }) => name),
    floors: Object.fromEntries(floors.filter(([, each]) => each !== Floor.UNSPECIFIED)),
    demanded: Object.fromEntries(
      demanding.flatMap(({ name }) => {
        const value = builtIn[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}

type Compare = (value: SettingValue, demanded: SettingValue) => boolean;

// Durations are stored as seconds with their unit behind, numbers in text.
const amountOf = (value: SettingValue): number => Number.parseFloat(String(value));
const limitOf = (value: SettingValue): number => amountOf(value) || Number.POSITIVE_INFINITY;
const listOf = (value: SettingValue): readonly string[] => (Array.isArray(value) ? value : []);

const comparisons: Readonly<Record<Floor, Compare>> = {
  [Floor.UNSPECIFIED]: () => true,
  [Floor.AT_LEAST]: (value, demanded) => amountOf(value) >= amountOf(demanded),
  [Floor.AT_MOST]: (value, demanded) => limitOf(value) <= limitOf(demanded),
  [Floor.TRUE_WINS]: (value, demanded) => value === true || demanded !== true,
  [Floor.FALSE_WINS]: (value, demanded) => value === false || demanded !== false,
  [Floor.NO_LONGER]: (value, demanded) => amountOf(value) <= amountOf(demanded),
  [Floor.SUBSET]: (value, demanded) => {
    const allowed = new Set(listOf(demanded));
    return listOf(value).every((each) => allowed.has(each));
  },
};

/** Whether an organization's value is as strict as the instance's, or stricter; any is where the instance has set none. */
export const isAsStrict = (
  floorOf: Floor = Floor.UNSPECIFIED,
  value: SettingValue,
  demanded: SettingValue | undefined,
): boolean => demanded === undefined || comparisons[floorOf](value, demanded);

/** @throws FAILED_PRECONDITION LOOSER_THAN_INSTANCE */
export function requireAsStrict(
  floors: Floors,
  property: string,
  value: SettingValue,
  demanded: SettingValue | undefined,
): void {
  if (isAsStrict(floors[property], value, demanded)) return;
  const reason = "LOOSER_THAN_INSTANCE";
  const description = `looser than what the instance has set (${textOf(demanded)}): set the same or something stricter, or reset it`;
  const field = `settings.${property}`;
  throw failedPrecondition(reason, `${field}: ${description}`, {
    violations: [{ field, description, reason }],
    metadata: { property },
  });
}

const textOf = (value: SettingValue | undefined): string =>
  Array.isArray(value) ? value.join(", ") || "none" : String(value);
