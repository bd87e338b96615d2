import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import fc from "fast-check";

type Json = fc.Arbitrary<JsonValue>;

const deepest = 4;
const edges = [
  "",
  " ",
  "a",
  "\u0000",
  "a\u0000b",
  "\u202e",
  "é",
  "e\u0301",
  "🔑",
  "../..",
  "%2e",
  "0",
  "x".repeat(201),
  "\ud800",
  "<script>",
  "$",
  "{{a}}",
  "__proto__",
];
const odd = fc.oneof(
  fc.constantFrom(...edges),
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constant("x".repeat(70_000)),
);
const usual = [
  "name",
  "alice",
  "alice@example.test",
  "https://example.com/a",
  "ORG_OWNER",
  "https://rp.test/cb",
  "en",
  "+41791234567",
];
// Ids that are there: what nobody knows is refused before anything happens.
let knownIds = ["1"];
export const know = (ids: string[]): void => void (knownIds = ids);
const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0).chain(() => fc.constantFrom(...knownIds)) },
  { weight: 4, arbitrary: fc.constantFrom(...usual) },
  { weight: 1, arbitrary: odd },
);
const whole = (...values: (number | string)[]) =>
  fc.oneof(fc.integer(), fc.constantFrom(...values));
const small = whole(0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 32 - 1, 1.5, 1e300, "7");
const large = whole(
  "0",
  "-1",
  "18446744073709551615",
  "-9223372036854775808",
  "9007199254740993",
  1.5,
);

/** JSON of a message as the schema has it, with values at the edges, and now and then something that is not of its type. */
export function messageJson(type: DescMessage, depth = 0): fc.Arbitrary<JsonObject> {
  const members = Object.fromEntries(
    type.fields.map((field) => [field.name, broken(fieldJson(field, depth))]),
  );
  return fc.record(members, { requiredKeys: [] }).map((made) => withoutSiblings(type, made));
}

// One member of a choice: all at once are refused before anything else is looked at.
function withoutSiblings(
  type: DescMessage,
  made: Record<string, JsonValue | undefined>,
): JsonObject {
  const chosen = new Set<string>();
  return Object.fromEntries(
    type.fields.flatMap(({ name, oneof }) => {
      const value = made[name];
      if (value === undefined || (oneof !== undefined && chosen.has(oneof.name))) return [];
      if (oneof !== undefined) chosen.add(oneof.name);
      return [[name, value]];
    }),
  );
}

const broken = (sound: Json): Json =>
  fc.oneof({ weight: 80, arbitrary: sound }, { weight: 1, arbitrary: fc.jsonValue() as Json });

function fieldJson(field: DescField, depth: number): Json {
  switch (field.fieldKind) {
    case "list":
      return fc.array(
        field.listKind === "message"
          ? inner(field.message, depth)
          : field.listKind === "enum"
            ? enumJson(field.enum.values.map(({ name }) => name))
            : scalarJson(field.scalar),
        { maxLength: 3 },
      );
    case "map":
      return fc.dictionary(
        texts,
        field.mapKind === "message"
          ? inner(field.message, depth)
          : field.mapKind === "enum"
            ? enumJson(field.enum.values.map(({ name }) => name))
            : scalarJson(field.scalar),
        { maxKeys: 3 },
      );
    case "message":
      return inner(field.message, depth);
    case "enum":
      return enumJson(field.enum.values.map(({ name }) => name));
    default:
      return scalarJson(field.scalar);
  }
}

const enumJson = (names: string[]): Json =>
  fc.oneof(fc.constantFrom(...names), fc.integer({ min: -1, max: 40 }), fc.constant("NO_SUCH"));

const wellKnown: Readonly<Record<string, Json>> = {
  "google.protobuf.Timestamp": fc.constantFrom(
    "2026-01-02T03:04:05Z",
    "9999-12-31T23:59:59.999999999Z",
    "0001-01-01T00:00:00Z",
    "soon",
  ),
  "google.protobuf.Duration": fc.constantFrom(
    "0s",
    "5s",
    "-1s",
    "315576000000s",
    "0.000000001s",
    "1",
  ),
  "google.protobuf.Struct": fc.dictionary(texts, fc.jsonValue() as Json, { maxKeys: 4 }),
  "google.protobuf.Value": fc.jsonValue() as Json,
  "google.protobuf.Any": fc.constantFrom(
    {},
    { "@type": "type.googleapis.com/google.protobuf.Empty" },
  ),
};

function inner(type: DescMessage, depth: number): Json {
  const known = wellKnown[type.typeName];
  if (known !== undefined) return known;
  return depth >= deepest
    ? fc.constant({})
    : fc.constant(0).chain(() => messageJson(type, depth + 1));
}

function scalarJson(scalar: ScalarType): Json {
  switch (scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.STRING:
      return texts;
    case ScalarType.BYTES:
      return fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64")),
        fc.string(),
      );
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom("NaN", "-Infinity"),
      );
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return small;
    default:
      return large;
  }
}

/** Bytes of a message with some of them changed, cut off or doubled. */
export const mutated = (bytes: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc
    .array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 })
    .chain((changes) =>
      fc.tuple(fc.nat({ max: bytes.length }), fc.boolean()).map(([end, cut]) => {
        const copy = Uint8Array.from(cut ? bytes.subarray(0, end) : bytes);
        for (const [at, byte] of changes) if (copy.length > 0) copy[at % copy.length] = byte;
        return copy;
      }),
    );
