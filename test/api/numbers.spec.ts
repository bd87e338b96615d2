// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { startSamples } from "./sample-service.ts";
import { samples } from "./samples.ts";

const samplesOfAll = await startSamples();
const { app, system, peer, world } = samplesOfAll;
const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
after(() => samplesOfAll[Symbol.asyncDispose]());

const most = 2n ** 63n - 1n;
const unsigned = [most, most + 1n, 2n ** 64n - 1n];
const signed = [most, -most - 1n, 10n ** 15n, -(10n ** 15n), 253_402_300_800n, -1n];
const isUnsigned = (field: DescField) =>
  field.scalar === ScalarType.UINT64 || field.scalar === ScalarType.FIXED64;
const isSigned = (field: DescField) =>
  field.scalar === ScalarType.INT64 || field.scalar === ScalarType.SINT64;

/** Where a number stands: the fields that lead to it from the request. */
type Path = readonly DescField[];

/** Each 64-bit number of a message, those in others included; a message within itself is looked into once. */
function numbersOf(type: DescMessage, path: Path = [], above: readonly string[] = []): Path[] {
  if (above.includes(type.typeName)) return [];
  return type.fields.flatMap((field): Path[] => {
    const here = [...path, field];
    const isMessage = field.fieldKind === "message" || field.fieldKind === "list";
    if (isMessage && field.message !== undefined) {
      return numbersOf(field.message, here, [...above, type.typeName]);
    }
    return isUnsigned(field) || isSigned(field) ? [here] : [];
  });
}

/** Puts a number there, with the messages that it stands in; lists become lists of one. */
function put(message: ReflectMessage, [field, ...rest]: Path, value: bigint): void {
  assert.ok(field !== undefined);
  const { message: inside } = field;
  const wanted = (found?: Message) => {
    assert.ok(inside !== undefined);
    const inner = reflect(inside, found ?? create(inside));
    put(inner, rest, value);
    return inner;
  };
  if (field.fieldKind === "list") {
    const list = message.get(field);
    list.clear();
    list.add(rest.length === 0 ? value : wanted());
  } else if (field.fieldKind === "scalar") message.set(field, value);
  else if (field.fieldKind === "message") {
    message.set(field, wanted(message.isSet(field) ? message.get(field).message : undefined));
  }
}

const unexplained: readonly number[] = [2, 13, 15];
const nameOf = (path: Path): string => path.map(({ name }) => name).join(".");

describe("a number of 64 bits that no store can hold", () => {
  for (const { rule } of unary) {
    const { method, path: name } = rule;
    const paths = numbersOf(method.input);
    const sample = samples[name];
    if (paths.length === 0 || sample === undefined) continue;
    it(`is answered in words by ${method.name}`, async () => {
      const token = sample.caller === "system" ? system : app.token;
      let turn = 0;
      // What was refused left all that it names as it was.
      let unused: JsonObject | undefined;
      for (const path of paths) {
        const field = path.at(-1);
        assert.ok(field !== undefined);
        for (const value of isUnsigned(field) ? unsigned : signed) {
          const valid = (unused ??= await sample.valid(world, turn++));
          const request = fromJson(method.input, valid);
          put(reflect(method.input, request), path, value);
          const outcome = await peer.call("grpc", method, request, { token });
          if (outcome.ok) {
            unused = undefined;
            continue;
          }
          const told = `${nameOf(path)} = ${value}: ${outcome.code} ${outcome.message}`;
          assert.ok(!unexplained.includes(outcome.code), told);
        }
      }
    });
  }

  it("is looked for in positions, spans and pages of the log", () => {
    const all = new Set(
      unary.flatMap(({ rule: { method } }) =>
        numbersOf(method.input).map((path) => `${method.name} ${nameOf(path)}`),
      ),
    );
    for (const known of [
      "ListProjectGrantChanges query.sequence",
      "SearchEvents filters.sequence.to",
      "SearchEvents filters.creation_date.from.seconds",
      "SearchTargets query.offset",
    ]) {
      assert.ok(all.has(known), known);
    }
  });
});
