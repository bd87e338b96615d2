// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseStrictJson } from "../../../src/api/transcode/strict-json.ts";
import { assertRefused } from "./refusal.ts";

const utf8 = (text: string) => Buffer.from(text, "utf8");
const parse = (text: string) => parseStrictJson(utf8(text));

function refuses(bytes: Uint8Array, position: number, problem: string, depth?: number): void {
  assertRefused(() => parseStrictJson(bytes, depth === undefined ? undefined : { depth }), {
    kind: "invalidArgument",
    reason: "MALFORMED_JSON",
    message: `malformed JSON at byte ${position}: ${problem}`,
  });
}

describe("parsing JSON strictly", () => {
  const documents = [
    "null",
    " true ",
    "false",
    "0",
    "-0",
    "-1.5e-3",
    "1E+2",
    "0.1",
    "9007199254740991",
    "123456789012345",
    "1234567890.12345678",
    '""',
    '"a\\"\\\\\\/\\b\\f\\n\\r\\tz"',
    '"\\u00fc\\uD83D\\uDD11\\u0000"',
    '"ü🔑\u2028"',
    "[]",
    " [ ] ",
    "{}",
    "[1,[2,[3]],{}]",
    '\t{ "a" : [ 1 , 2 ] ,\r\n "b" : { "a" : null } }\n',
    '{"":1," ":2}',
    '{"a":{"x":1},"b":{"x":1}}',
    '{"constructor":1,"prototype":{},"toString":2,"hasOwnProperty":3}',
  ];
  for (const text of documents) {
    it(`reads ${text} as everyone does`, () => assert.deepEqual(parse(text), JSON.parse(text)));
  }

  it("delivers integers that a double does not hold as text, at every depth", () =>
    assert.deepEqual(
      parse('{"a":18446744073709551615,"b":[-9223372036854775808,1,9007199254740993],"c":"1"}'),
      { a: "18446744073709551615", b: ["-9223372036854775808", 1, "9007199254740993"], c: "1" },
    ));
  it("delivers a key that names something inherited as a key like any other", () => {
    const json = parse('{"constructor":{"prototype":{"polluted":true}}}');
    assert.deepEqual(Object.keys(json ?? {}), ["constructor"]);
    assert.equal("polluted" in Object.prototype, false);
  });
  it("reads objects of many keys, without taking the square of the time", () => {
    const count = 100_000;
    const text = `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join()}}`;
    assert.equal(Object.keys(parse(text) ?? {}).length, count);
  });
});

describe("refusing what JSON parsers disagree on", () => {
  const refused: [why: string, text: string, position: number, problem: string][] = [
    ["nothing", "", 0, "the text ends where a value belongs"],
    ["only blanks", "  ", 2, "the text ends where a value belongs"],
    ["a byte order mark", "\uFEFF{}", 0, "the text starts with a byte order mark"],
    ["a second value", "{} {}", 3, "expected the end of the text"],
    ["trailing text", "1 x", 2, "expected the end of the text"],
    ["a trailing comma in a list", "[1, ]", 4, "trailing comma"],
    ["a trailing comma in an object", '{"a":1,}', 7, "trailing comma"],
    ["only a comma in a list", "[,]", 1, "expected a value"],
    ["a line comment", "{// x\n}", 1, "comments are not JSON"],
    ["a block comment", "[1/* x */]", 2, "comments are not JSON"],
    ["a comment at the end", "{} // x", 3, "comments are not JSON"],
    ["a number over the largest double", '{"a":1e400}', 5, "the number is too large"],
    ["a negative one", "-1e999", 0, "the number is too large"],
    ["an integer over the largest double", `1${"0".repeat(400)}`, 0, "the number is too large"],
    ["NaN", "NaN", 0, "expected a value"],
    ["Infinity", "-Infinity", 0, "expected a value"],
    ["a leading zero", "01", 1, "expected the end of the text"],
    ["a leading plus", "+1", 0, "expected a value"],
    ["a bare fraction", ".5", 0, "expected a value"],
    ["a bare point", "[1.]", 2, 'expected "," or "]"'],
    ["a hexadecimal number", "0x10", 1, "expected the end of the text"],
    ["single quotes", "{'a':1}", 1, "expected a key in double quotes"],
    ["a bare key", "{a:1}", 1, "expected a key in double quotes"],
    ["a missing colon", '{"a" 1}', 5, 'expected ":"'],
    ["a missing comma", "[1 2]", 3, 'expected "," or "]"'],
    ["the wrong bracket", "[1}", 2, 'expected "," or "]"'],
    ["an open list", "[1", 2, 'the text ends where "," or "]" belongs'],
    ["an open object", '{"a":1', 6, 'the text ends where "," or "}" belongs'],
    ["an open string", '["abc', 5, "the string does not end"],
    ["an escape at the end", '"\\', 1, "unknown escape"],
    ["an unknown escape", '"a\\x41"', 2, "unknown escape"],
    ["a short escape", '"\\u12"', 1, "\\u needs four hexadecimal digits"],
    ["a raw line break in a string", '"a\nb"', 2, "a control character in a string"],
    ["a raw NUL in a string", '"a\0b"', 2, "a control character in a string"],
    ["a NUL between tokens", "[1,\0 2]", 3, "expected a value"],
    ["a blank that is not JSON's", "[1,\u00a02]", 3, "expected a value"],
    ["a word in capitals", "True", 0, "expected a value"],
    ["a word cut short", "nul", 0, "expected a value"],
    ["half a surrogate pair, the first", '"ü\\ud83d"', 3, "half of a surrogate pair"],
    ["half a surrogate pair, the second", '"\\udd11"', 1, "half of a surrogate pair"],
    ["halves in the wrong order", '"\\udd11\\ud83d"', 1, "half of a surrogate pair"],
    ["half a surrogate pair in a key", '{"\\ud83d":1}', 2, "half of a surrogate pair"],
    ["a key twice", '{"a":1,"b":2,"a":3}', 13, "the key stands twice in its object"],
    ["a key twice, once escaped", '{"ab":1,"a\\u0062":2}', 8, "the key stands twice"],
    ["a key twice, deep down", '[{"a":{"x":1,"x":1}}]', 13, "the key stands twice"],
    ["the key __proto__", '{"a":{"__proto__":{}}}', 6, "the key __proto__ is not accepted"],
    ["the key __proto__, escaped", '{"\\u005f_proto__":1}', 1, "the key __proto__ is not accepted"],
  ];
  for (const [why, text, position, problem] of refused) {
    it(`refuses ${why}`, () => refuses(utf8(text), position, problem));
  }
  it("refuses a key twice among many", () => {
    const keys = Array.from({ length: 40 }, (_, index) => `"${String(index).padStart(2, "0")}":0`);
    refuses(utf8(`{${keys.join()},"39":0}`), 281, "the key stands twice");
  });

  const encodings: [why: string, bytes: Uint8Array, position: number, problem: string][] = [
    ["UTF-16 with a mark", Buffer.from("\uFEFF{}", "utf16le"), 0, "the text is not UTF-8"],
    ["UTF-16 without a mark", Buffer.from("{}", "utf16le"), 1, "expected a key in double quotes"],
    [
      "a byte that is never in UTF-8",
      Buffer.from([0x22, 0x61, 0xff, 0x22]),
      2,
      "the text is not UTF-8",
    ],
    ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 1, "the text is not UTF-8"],
    [
      "an encoded surrogate",
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      1,
      "the text is not UTF-8",
    ],
    ["a cut character", Buffer.from([0x22, 0x61, 0xc3]), 2, "the text is not UTF-8"],
    [
      "a bad byte behind replacement characters that are there",
      Buffer.concat([utf8('"ü\uFFFDx\uFFFD'), Buffer.from([0xff, 0x22])]),
      10,
      "the text is not UTF-8",
    ],
  ];
  for (const [why, bytes, position, problem] of encodings) {
    it(`refuses ${why}`, () => refuses(bytes, position, problem));
  }

  it("counts positions in bytes", () => refuses(utf8('{"ü🔑":x}'), 10, "expected a value"));
  it("says nothing of what the text holds", () =>
    assert.throws(
      () => parse('{"password":"hunter2",}'),
      (error) => error instanceof Error && !error.message.includes("hunter2"),
    ));
});

describe("the depth of JSON", () => {
  const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  it("reaches 100", () => {
    assert.doesNotThrow(() => parse(lists(100)));
    assert.doesNotThrow(() => parse(objects(100)));
    assert.doesNotThrow(() => parse(`[${Array(50).fill(lists(99)).join()}]`));
  });
  it("ends at 101", () => {
    refuses(utf8(lists(101)), 100, "lists and objects nest too deep");
    refuses(utf8(objects(101)), 500, "lists and objects nest too deep");
  });
  it("is refused without running out of stack", () =>
    refuses(utf8("[".repeat(1_000_000)), 100, "lists and objects nest too deep"));
  it("can be set lower", () => refuses(utf8("[[1]]"), 1, "lists and objects nest too deep", 1));
});

describe("the number of values (J17)", () => {
  const list = (length: number) => `[${Array(length).fill("1").join()}]`;
  it("reaches 200,000, the list itself included", () =>
    assert.doesNotThrow(() => parse(list(199_999))));
  it("ends there, in lists and in objects", () => {
    refuses(utf8(list(200_000)), 400_000 - 1, "more than 200000 values");
    const members = Array.from({ length: 100_000 }, (_, at) => `"${at}":[1]`);
    const text = `{${members.join()}}`;
    refuses(utf8(text), text.length - 3, "more than 200000 values");
  });
});

describe("texts near to JSON", () => {
  // A fixed row of numbers: a failure must be repeatable.
  function* chances(seed: number): Generator<number, never> {
    let state = seed;
    for (;;) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      yield state / 2 ** 32;
    }
  }
  it("are accepted only where JSON.parse accepts them, and then read alike", () => {
    const next = chances(42);
    const chance = (below: number) => Math.floor(next.next().value * below);
    const seed = '{"a":[1,-2.5e3,true,null,"x\\u00e9\\n"],"b":{"c":"d","e":[]},"f":0}';
    const alphabet = '{}[]:,"\\u0123456789eE+-.truefalsn \n/\u00fc';
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const letters = seed.split("");
      for (let change = 0; change <= chance(2); change += 1) {
        letters.splice(chance(letters.length), chance(2), alphabet.charAt(chance(alphabet.length)));
      }
      const text = letters.join("");
      const strict = attempt(() => parse(text));
      if (!strict) continue;
      accepted += 1;
      assert.deepEqual(
        strict,
        attempt(() => JSON.parse(text)),
        text,
      );
    }
    assert.ok(accepted > 1000);
  });
});

function attempt(call: () => unknown): { value: unknown } | undefined {
  try {
    return { value: call() };
  } catch {
    return undefined; // only whether it is refused is compared
  }
}
