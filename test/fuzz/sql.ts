import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { judgeAnswer } from "./oracle.ts";
import { startTwins, type Twins } from "./sql-twins.ts";
import { hardTexts, objects, organizations, projects, users } from "./sql-world.ts";
import { methodsOf, type Target } from "./target.ts";

type Json = fc.Arbitrary<JsonValue>;
const deepest = 4;

let twins: Promise<Twins> | undefined;
const started = () => (twins ??= startTwins());

/** The same searches of a service on SQLite and of one on PostgreSQL find the same in the same order, or are refused alike. */
export const sql: Target = {
  name: "sql",
  isLong: true,
  property: (peer) =>
    fc.asyncProperty(
      fc
        .constantFrom(...methodsOf(peer).filter(({ name }) => name.startsWith("Search")))
        .chain((method) => fc.tuple(fc.constant(method), searchOf(method.input))),
      async ([method, message]) => compare(await started(), method, message),
    ),
  ready: started,
  async close() {
    await (await twins)?.[Symbol.asyncDispose]();
    twins = undefined;
  },
};

async function compare(both: Twins, method: DescMethod, message: JsonObject): Promise<void> {
  for (let left = 5; ; left--) {
    const [one, two] = await both.ask(method, message);
    assert.ok(one && two);
    for (const { answer } of [one, two]) judgeAnswer(answer);
    // What each does by itself, it does at a time of its own.
    if (left > 0 && !isDeepStrictEqual(two.shown, one.shown)) await delay(left < 5 ? 200 : 0);
    else return assert.deepEqual(two.shown, one.shown);
  }
}

// Parts of ids, which stand in names of domains too, are those of one service alone.
const withoutDigits = (given: string): string => given.replaceAll(/\d/g, "x");
const object = fc.nat({ max: objects + 3 }).map((at) => `@${at}`);
const piece = fc
  .tuple(fc.constantFrom(...hardTexts), fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 3 }))
  .map(([text, from, to, how]) => {
    const points = [...text].slice(from === 1 ? 1 : 0, to === 1 ? -1 : undefined).join("");
    return [points, points.toUpperCase(), points.toLowerCase(), points.normalize("NFD")][how] ?? "";
  });
const text = fc.oneof(
  { weight: 8, arbitrary: piece },
  { weight: 2, arbitrary: object },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "\u0000", "\ud800", "a\u0000", "\u{10ffff}", "\ud7ff"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }).map(withoutDigits) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("user", "org.added", "human", "ORG_OWNER", "key-1", "localhost"),
  },
);
const edges = [
  0,
  1_000,
  1_001,
  "2147483647",
  "2147483648",
  "4294967295",
  "9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
];
const edge = fc.constantFrom<JsonValue>(...edges);
const upTo = (max: number) => usual(fc.nat({ max }), edge);
const date = fc.integer({ min: -60_000, max: 600_000 }).map((ms) => `@after ${ms}`);
const usual = (often: Json, seldom: Json): Json =>
  fc.oneof({ weight: 9, arbitrary: often }, { weight: 1, arbitrary: seldom });
const idOf = (name: string): Json => {
  if (name.includes("org")) return fc.constantFrom(...organizations);
  if (name.includes("project_id")) return fc.constantFrom(...projects);
  return name.includes("user") ? fc.constantFrom(...users, "@3", "@4") : object;
};

/** A search of this shape. Most are right, or nothing would be compared. */
function searchOf(type: DescMessage, depth = 0): fc.Arbitrary<JsonObject> {
  const choices = type.oneofs.filter(({ fields }) => fields.length > 1);
  const free = type.fields.filter(({ oneof }) => oneof === undefined || !choices.includes(oneof));
  const plain = free.map((field) => {
    const value = fieldOf(type, field, depth);
    const isSeldom = field.name === "ctx";
    const isAlways = !field.proto.proto3Optional && !mayLack.test(field.name);
    const weights = isSeldom ? [1, 12] : isAlways ? [15, 1] : [2, 1];
    return withOrWithout(field, value, weights);
  });
  const chosen = choices.map(({ fields }) => {
    const able = fields.filter((field) => depth < deepest || !isNested(field, type));
    return fc.oneof(
      ...able.map((field) => withOrWithout(field, fieldOf(type, field, depth), [1, 0])),
    );
  });
  return fc.tuple(...plain, ...chosen).map((parts): JsonObject => Object.assign({}, ...parts));
}

const mayLack = /^(?:query|sorting_column|method|asc|offset|limit)$/;

const withOrWithout = (field: DescField, value: Json, [is = 1, isNot = 0]: readonly number[]) =>
  fc.oneof(
    { weight: is, arbitrary: value.map((given): JsonObject => ({ [field.name]: given })) },
    { weight: isNot, arbitrary: fc.constant<JsonObject>({}) },
  );

/** Whether a filter of this type holds others of its type. */
const isNested = (field: DescField, type: DescMessage): boolean =>
  field.message === type ||
  (field.message?.fields.some(({ message }) => message === type) ?? false);

function fieldOf(type: DescMessage, field: DescField, depth: number): Json {
  const inner = (message: DescMessage): Json =>
    message.typeName === "google.protobuf.Timestamp" ? date : searchOf(message, depth + 1);
  if (field.fieldKind === "list") {
    const one = field.listKind === "message" ? inner(field.message) : scalarOf(type, field);
    return fc.array(one, { maxLength: field.listKind === "message" ? 3 : 40, size: "max" });
  }
  return field.fieldKind === "message" ? inner(field.message) : scalarOf(type, field);
}

function scalarOf(type: DescMessage, field: DescField): Json {
  const { name, enum: names } = field;
  if (names !== undefined) {
    const known = names.values.filter(({ number }) => number > 0 || names.name.includes("Method"));
    return usual(fc.constantFrom(...known.map((each) => each.name)), fc.constantFrom(0, 99));
  }
  if (field.scalar === ScalarType.BOOL) return fc.boolean();
  if (name === "offset" || name === "limit") return upTo(name === "limit" ? 20 : 10);
  if (name === "from" || name === "to") return upTo(900);
  if (/(?:^|_)ids?$/.test(name)) {
    const other = text.map(withoutDigits);
    return usual(idOf(`${type.name} ${name}`.toLowerCase()), other);
  }
  return text;
}
