import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  isFieldSet,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import {
  BoolRulesSchema,
  type FieldRules,
  field as fieldOption,
  Ignore,
  message as messageOption,
  oneof as oneofOption,
  type StringRules,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { MethodRule } from "../method-rule.ts";
import { plainRules } from "../string-rules.ts";
import { commentOf } from "./comments.ts";
import { settingSentence } from "./setting-sentences.ts";

export type JsonNames = MethodRule["jsonNames"];

/** The JSON schemas of messages and enums, each described once and referred to by name. */
export type SchemaBook = {
  /** The schema of what a field holds, with its rules and without its description. */
  ofField(field: DescField, names: JsonNames): JsonObject;
  ofMessage(desc: DescMessage, names: JsonNames): JsonObject;
  /** The schema of a message in place, without some of its fields. */
  withoutFields(desc: DescMessage, names: JsonNames, left: ReadonlySet<DescField>): JsonObject;
  /** Everything that was referred to so far, for `components.schemas`; sorted by name. */
  components(): JsonObject;
};

/**
 * Begins a book of JSON schemas for OpenAPI 3.1: the JSON mapping of protobuf, and the limits of protovalidate.
 *
 * A name is the full name of the type. A message that services of both spellings use is there twice; the spelling that
 * comes second has its name behind a dot.
 */
export function createSchemaBook(): SchemaBook {
  const components = new Map<string, JsonObject>();
  const spelledFirst = new Map<string, JsonNames>();

  function ofMessage(desc: DescMessage, names: JsonNames): JsonObject {
    const inline = wellKnown(desc);
    if (inline) return inline;
    const first = spelledFirst.get(desc.typeName) ?? names;
    spelledFirst.set(desc.typeName, first);
    const key = first === names ? desc.typeName : `${desc.typeName}.${names}`;
    if (!components.has(key)) {
      // Named before it is described, because a message can contain itself.
      components.set(key, {});
      components.set(key, describeMessage(desc, names));
    }
    return reference(key);
  }

  function ofEnum(desc: DescEnum): JsonObject {
    if (desc.typeName === "google.protobuf.NullValue") return { type: "null" };
    components.set(desc.typeName, describeEnum(desc));
    return reference(desc.typeName);
  }

  function ofValue(field: DescField, names: JsonNames): JsonObject {
    if (field.message) return ofMessage(field.message, names);
    return field.enum ? ofEnum(field.enum) : ofScalar(field.scalar);
  }

  function ofField(field: DescField, names: JsonNames): JsonObject {
    const rules = getOption(field, fieldOption);
    const value = ofValue(field, names);
    const { type } = rules;
    switch (field.fieldKind) {
      case "list": {
        const list = type.case === "repeated" ? type.value : undefined;
        const items = { ...value, ...keywords(list?.items, field.enum) };
        return { type: "array", items, ...keywords(rules, field.enum) };
      }
      case "map": {
        const map = type.case === "map" ? type.value : undefined;
        const additionalProperties = { ...value, ...keywords(map?.values, field.enum) };
        const keys = keywords(map?.keys, undefined);
        return {
          type: "object",
          ...(Object.keys(keys).length > 0 ? { propertyNames: keys } : {}),
          additionalProperties,
          ...keywords(rules, undefined),
        };
      }
      default:
        return { ...value, ...keywords(rules, field.enum) };
    }
  }

  function describeMessage(
    desc: DescMessage,
    names: JsonNames,
    left: ReadonlySet<DescField> = new Set(),
  ): JsonObject {
    const fields = desc.fields.filter((field) => !left.has(field));
    const required = fields.filter(isRequired).map((field) => spell(field, names));
    const properties = fields.map((field) => [
      spell(field, names),
      {
        ...ofField(field, names),
        ...described(describeField(field)),
        ...(field.deprecated ? { deprecated: true } : {}),
      },
    ]);
    return {
      type: "object",
      ...described(describeWhole(desc, names)),
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries(properties),
    };
  }

  return {
    ofField,
    ofMessage,
    withoutFields: describeMessage,
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** A field name in the spelling of a service's JSON. */
export function spell(field: DescField, names: JsonNames): string {
  return names === "proto" ? field.name : field.jsonName;
}

/** Whether a message without the field is refused. */
export function isRequired(field: DescField): boolean {
  const rules = getOption(field, fieldOption);
  if (rules.ignore !== Ignore.UNSPECIFIED) return rules.required && rules.ignore !== Ignore.ALWAYS;
  if (rules.required) return true;
  // Without presence an absent field is an empty one, to which the other rules apply.
  const { case: kind, value } = rules.type;
  if (kind === "repeated") return value.minItems > 0n;
  if (kind === "map") return value.minPairs > 0n;
  const implicit = field.presence === FeatureSet_FieldPresence.IMPLICIT;
  if (!implicit || kind !== "string") return false;
  const { minLen, len } = plainRules(value).rules;
  return minLen > 0n || len > 0n;
}

/** What a reader must know of a field: its comment, and the rules that JSON Schema has no words for. */
export function describeField(field: DescField): string {
  const { cel } = getOption(field, fieldOption);
  return paragraphs(
    commentOf(`${field.parent.typeName}.${field.name}`),
    settingSentence(field),
    ...cel.map(({ message }) => ruleSentence(message)),
  );
}

/** Joins what there is of some paragraphs. */
export function paragraphs(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** The description of an OpenAPI object, left out when there is nothing to say. */
export function described(description: string): JsonObject {
  return description === "" ? {} : { description };
}

function describeWhole(desc: DescMessage, names: JsonNames): string {
  const oneofs = desc.oneofs.map((oneof) => {
    const required = getOption(oneof, oneofOption).required;
    const members = oneof.fields.map((field) => `\`${spell(field, names)}\``).join(", ");
    const comment = commentOf(`${desc.typeName}.${oneof.name}`);
    return `${required ? "Exactly" : "At most"} one of ${members}. ${comment}`.trimEnd();
  });
  const rules = getOption(desc, messageOption).cel.map(({ message }) => ruleSentence(message));
  return paragraphs(commentOf(desc.typeName), ...oneofs, ...rules);
}

function describeEnum(desc: DescEnum): JsonObject {
  const values = desc.values.map(({ name }) => {
    const comment = commentOf(`${desc.typeName}.${name}`).replaceAll("\n", " ");
    return comment === "" ? `- \`${name}\`` : `- \`${name}\`: ${comment}`;
  });
  return {
    type: "string",
    ...described(paragraphs(commentOf(desc.typeName), values.join("\n"))),
    enum: desc.values.map(({ name }) => name),
  };
}

function ruleSentence(message: string): string {
  return message === "" ? "" : `Rule: ${message}.`;
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

// What JSON writes otherwise than as an object of the fields.
const wellKnownTypes: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["google.protobuf.Timestamp", { type: "string", format: "date-time" }],
  [
    "google.protobuf.Duration",
    { type: "string", pattern: "^-?[0-9]{1,12}(?:\\.[0-9]{1,9})?s$", examples: ["1.5s"] },
  ],
  ["google.protobuf.FieldMask", { type: "string", examples: ["name,timeout"] }],
  ["google.protobuf.Struct", { type: "object", additionalProperties: true }],
  ["google.protobuf.ListValue", { type: "array", items: {} }],
  ["google.protobuf.Value", {}],
  [
    "google.protobuf.Any",
    {
      type: "object",
      required: ["@type"],
      properties: { "@type": { type: "string" } },
      additionalProperties: true,
    },
  ],
]);

function wellKnown(desc: DescMessage): JsonObject | undefined {
  return isWrapperDesc(desc) ? ofScalar(desc.fields[0]?.scalar) : wellKnownTypes.get(desc.typeName);
}

function ofScalar(scalar: ScalarType | undefined): JsonObject {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
    case undefined:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "uint32", minimum: 0 };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", format: "int64" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", format: "uint64" };
    case ScalarType.FLOAT:
      return { type: "number", format: "float" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
  }
}

type Rules = FieldRules["type"];
type NumberRules = Extract<
  Rules,
  { case: "int32" | "sint32" | "sfixed32" | "uint32" | "fixed32" | "float" | "double" }
>["value"];

// What the empty value satisfies in any case.
const holdForEmpty: ReadonlySet<string> = new Set(["maxLength", "maxItems", "maxProperties"]);

/** The rules that JSON Schema has words for. 64-bit numbers are strings there, so their bounds have none. */
function keywords(rules: FieldRules | undefined, desc: DescEnum | undefined): JsonObject {
  if (rules === undefined || rules.ignore === Ignore.ALWAYS) return {};
  const found = ruleKeywords(rules.type, desc);
  if (rules.ignore !== Ignore.IF_ZERO_VALUE) return found;
  return Object.fromEntries(Object.entries(found).filter(([word]) => holdForEmpty.has(word)));
}

function ruleKeywords(rules: Rules, desc: DescEnum | undefined): JsonObject {
  switch (rules.case) {
    case "string":
      return stringKeywords(rules.value);
    case "bool":
      return isFieldSet(rules.value, BoolRulesSchema.field.const)
        ? { const: rules.value.const }
        : {};
    case "enum":
      return valueSets(
        rules.value.in.map((number) => valueName(desc, number)),
        rules.value.notIn.map((number) => valueName(desc, number)),
      );
    case "repeated": {
      const { minItems, maxItems, unique } = rules.value;
      return {
        ...bounds("Items", minItems, maxItems),
        ...(unique ? { uniqueItems: true } : {}),
      };
    }
    case "map":
      return bounds("Properties", rules.value.minPairs, rules.value.maxPairs);
    case "int32":
    case "sint32":
    case "sfixed32":
    case "uint32":
    case "fixed32":
    case "float":
    case "double":
      return numberKeywords(rules.value);
    default:
      return {};
  }
}

function valueName(desc: DescEnum | undefined, number: number): string | number {
  return desc?.value[number]?.name ?? number;
}

function valueSets(allowed: (string | number)[], refused: (string | number)[]): JsonObject {
  return {
    ...(allowed.length > 0 ? { enum: allowed } : {}),
    ...(refused.length > 0 ? { not: { enum: refused } } : {}),
  };
}

// Zero as the lower bound says nothing; as the upper bound it stands for an absent rule.
function bounds(of: "Length" | "Items" | "Properties", min: bigint, max: bigint): JsonObject {
  return {
    ...(min > 0n ? { [`min${of}`]: Number(min) } : {}),
    ...(max > 0n ? { [`max${of}`]: Number(max) } : {}),
  };
}

const stringFormats = {
  email: "email",
  hostname: "hostname",
  ipv4: "ipv4",
  ipv6: "ipv6",
  uri: "uri",
  uriRef: "uri-reference",
  uuid: "uuid",
};

function stringKeywords(given: StringRules): JsonObject {
  const { rules } = plainRules(given);
  const { len, minLen, maxLen, pattern, wellKnown: known } = rules;
  const format = Object.entries(stringFormats).find(([name]) => name === known.case)?.[1];
  const isConst = isFieldSet(rules, StringRulesSchema.field.const);
  return {
    ...(len > 0n ? bounds("Length", len, len) : bounds("Length", minLen, maxLen)),
    ...(pattern === "" ? {} : { pattern }),
    ...(format === undefined || known.value !== true ? {} : { format }),
    ...valueSets(rules.in, rules.notIn),
    ...(isConst ? { const: rules.const } : {}),
  };
}

const numberWords = {
  gt: "exclusiveMinimum",
  gte: "minimum",
  lt: "exclusiveMaximum",
  lte: "maximum",
} as const;

function numberKeywords(rules: NumberRules): JsonObject {
  const { greaterThan, lessThan } = rules;
  // A lower bound above the upper one means the values outside of both.
  const isOutside = (greaterThan.value ?? -Infinity) > (lessThan.value ?? Infinity);
  return {
    ...(greaterThan.case === undefined || isOutside
      ? {}
      : { [numberWords[greaterThan.case]]: greaterThan.value }),
    ...(lessThan.case === undefined || isOutside
      ? {}
      : { [numberWords[lessThan.case]]: lessThan.value }),
    ...valueSets(rules.in, rules.notIn),
  };
}
