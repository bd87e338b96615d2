import {
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import {
  type Duration,
  DurationSchema,
  type Timestamp,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import {
  type BoolRules,
  type BytesRules,
  type DurationRules,
  type EnumRules,
  type FieldRules,
  field as fieldOption,
  type MapRules,
  message as messageOption,
  oneof as oneofOption,
  type RepeatedRules,
  type StringRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { isDuration, isTimestamp } from "./times-in-range.ts";
import { plainRules } from "./string-rules.ts";

type Check = (value: unknown) => boolean;

// Narrower than what the rules allow: whatever else they allow, the validator finds out.
const plainName = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const plainUrl = /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9._~/-]*)?$/;

const label = "[A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,30})?";
const plainEmail = new RegExp(`^[A-Za-z0-9._+-]{1,64}@${label}(?:\\.${label}){1,4}$`);
// Of these characters a pattern means the same here as to the validator, which reads RE2.
const portablePattern = /^[A-Za-z0-9 ^$()[\]{}*+?|,=_-]+$/;
const longestMatched = 64;

const yes: Check = () => true;
const unsure: Check = () => false;
const compiled = new WeakMap<DescMessage, Check>();
const times: Readonly<Record<string, Check>> = {
  [TimestampSchema.typeName]: (value) => isTimestamp(value as Timestamp),
  [DurationSchema.typeName]: (value) => isDuration(value as Duration),
};

/**
 * A check that is true only for messages that keep every rule of the schema (precheck); false means "ask the validator".
 *
 * It knows the plain rules (required, lengths, constants, defined values, sizes of lists, spans of time), vouches for
 * plain names and addresses, and for nothing else: CEL and rules it has never heard of are always the validator's.
 */
export function compilePrecheck(type: DescMessage): (message: Message) => boolean {
  return compileMessage(type);
}

function compileMessage(type: DescMessage): Check {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  // A message may hold itself: those inside ask by way of the map.
  compiled.set(type, (value) => compileMessage(type)(value));
  const check = hasOption(type, messageOption)
    ? unsure
    : (times[type.typeName] ??
      all([
        ...type.oneofs.map(compileOneof),
        ...type.fields.filter(({ oneof }) => oneof === undefined).map(compileField),
      ]));
  compiled.set(type, check);
  return check;
}

function all(checks: readonly Check[]): Check {
  const telling = checks.filter((check) => check !== yes);
  if (telling.length === 0) return yes;
  return (message) => telling.every((check) => check(message));
}

function compileOneof(oneof: DescOneof): Check {
  const required = hasOption(oneof, oneofOption) && getOption(oneof, oneofOption).required;
  const byCase = new Map<unknown, Check>(
    oneof.fields.map((member) => [member.localName, compileValue(member, rulesOf(member))]),
  );
  return (message) => {
    const choice: unknown = Reflect.get(Object(message), oneof.localName);
    const name: unknown = Reflect.get(Object(choice), "case");
    if (name === undefined) return !required;
    return byCase.get(name)?.(Reflect.get(Object(choice), "value")) ?? false;
  };
}

const rulesOf = (field: DescField): FieldRules | undefined =>
  hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;

function compileField(field: DescField): Check {
  const rules = rulesOf(field);
  const check = compileValue(field, rules);
  const required = rules?.required ?? false;
  if (check === yes && !required) return yes;
  return (message) => {
    const value: unknown = Reflect.get(Object(message), field.localName);
    if (value === undefined) return !required;
    return (!required || !isEmpty(value)) && check(value);
  };
}

const isEmpty = (value: unknown): boolean =>
  value === "" ||
  value === 0 ||
  value === 0n ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

function compileValue(field: DescField, rules: FieldRules | undefined): Check {
  if (rules !== undefined && !onlyHas(rules, ["required", "type"])) return unsure;
  if (field.fieldKind === "map") {
    return rules?.type.case === "map" ? compileMap(rules.type.value) : unsure;
  }
  const inner = field.message === undefined ? yes : compileMessage(field.message);
  if (rules?.type.case === undefined) {
    return field.fieldKind === "list" && inner !== yes ? each(inner) : inner;
  }
  switch (rules.type.case) {
    case "string":
      return compileString(rules.type.value);
    case "bool":
      return compileBool(rules.type.value);
    case "enum":
      return compileEnum(field, rules.type.value);
    case "duration":
      return compileDuration(rules.type.value);
    case "repeated":
      return compileList(rules.type.value, inner);
    default:
      return unsure;
  }
}

const each =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Whether nothing but these fields of a rule is set; extensions, such as predefined rules, count as set. */
function onlyHas(rules: Message, names: readonly string[]): boolean {
  if ((rules.$unknown ?? []).length > 0) return false;
  return Object.entries(rules).every(
    ([name, value]) => name.startsWith("$") || names.includes(name) || isUnset(value),
  );
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  isEmpty(value) ||
  (typeof value === "object" && value !== null && "case" in value && value.case === undefined);

function compileString(given: StringRules): Check {
  const { rules, isDisplayName, isHttpUrl } = plainRules(given);
  const { minLen, maxLen } = rules;
  if (!onlyHas(rules, ["minLen", "maxLen", "wellKnown", "pattern"])) return unsure;
  const isEmail = rules.wellKnown.case === "email" && rules.wellKnown.value;
  if (
    rules.wellKnown.case !== undefined &&
    !isEmail &&
    !(rules.wellKnown.case === "uri" && isHttpUrl)
  ) {
    return unsure;
  }
  if (
    rules.pattern !== "" &&
    (!portablePattern.test(rules.pattern) || rules.pattern.includes("(?"))
  ) {
    return unsure;
  }
  const patterns = [
    ...(isDisplayName ? [plainName] : []),
    ...(isHttpUrl ? [plainUrl] : []),
    ...(isEmail ? [plainEmail] : []),
  ];
  const own = rules.pattern === "" ? undefined : new RegExp(rules.pattern);
  // Lengths are in code points, of which a text has at most as many as UTF-16 units, and at least half.
  return (value) =>
    typeof value === "string" &&
    (minLen <= 1n ? value.length >= minLen : value.length >= 2n * minLen) &&
    (maxLen === 0n || value.length <= maxLen) &&
    patterns.every((pattern) => pattern.test(value)) &&
    // Matching here may take long by the length.
    (own === undefined || (value.length <= longestMatched && own.test(value)));
}

function compileDuration(rules: DurationRules): Check {
  if (!onlyHas(rules, ["greaterThan", "lessThan"])) return unsure;
  const { greaterThan: low, lessThan: high } = rules;
  if (low.case !== "gt" || high.case !== "lte") return unsure;
  const [over, upTo] = [nanosOf(low.value), nanosOf(high.value)];
  return (value) => {
    const nanos = nanosOf(value as Duration);
    return nanos > over && nanos <= upTo;
  };
}

const nanosOf = ({ seconds, nanos }: Duration): bigint => seconds * 1_000_000_000n + BigInt(nanos);

function compileBool(rules: BoolRules): Check {
  return onlyHas(rules, ["const"]) ? (value) => value === rules.const : unsure;
}

function compileEnum(field: DescField, rules: EnumRules): Check {
  if (!onlyHas(rules, ["definedOnly"])) return unsure;
  const defined = new Set<unknown>(field.enum?.values.map(({ number }) => number));
  return (value) => !rules.definedOnly || defined.has(value);
}

function compileBytes(rules: BytesRules): Check {
  if (!onlyHas(rules, ["minLen", "maxLen"])) return unsure;
  const { minLen, maxLen } = rules;
  return (value) =>
    value instanceof Uint8Array &&
    value.length >= minLen &&
    (maxLen === 0n || value.length <= maxLen);
}

/** A map of texts or bytes. */
function compileMap(rules: MapRules): Check {
  if (!onlyHas(rules, ["minPairs", "maxPairs", "keys", "values"])) return unsure;
  const { minPairs, maxPairs, keys, values } = rules;
  const [key, value] = [compileScalar(keys), compileScalar(values)];
  return (map) => {
    const entries = Object.entries(Object(map));
    return (
      entries.length >= minPairs &&
      (maxPairs === 0n || entries.length <= maxPairs) &&
      entries.every((entry) => key(entry[0]) && value(entry[1]))
    );
  };
}

function compileScalar(rules: FieldRules | undefined): Check {
  if (rules === undefined || !onlyHas(rules, ["type"])) return unsure;
  if (rules.type.case === "string") return compileString(rules.type.value);
  return rules.type.case === "bytes" ? compileBytes(rules.type.value) : unsure;
}

function compileList(rules: RepeatedRules, inner: Check): Check {
  if (!onlyHas(rules, ["minItems", "maxItems", "items", "unique"])) return unsure;
  const { minItems, maxItems, items, unique } = rules;
  const item = items === undefined ? inner : compileScalar(items);
  return (value) =>
    Array.isArray(value) &&
    value.length >= minItems &&
    (maxItems === 0n || value.length <= maxItems) &&
    (!unique || new Set(value).size === value.length) &&
    (item === yes || value.every(item));
}
