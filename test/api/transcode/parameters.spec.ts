// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import {
  type FieldPath,
  type Placement,
  placePathVariables,
  placeQuery,
  printFieldPath,
  resolveFieldPath,
} from "../../../src/api/transcode/parameters.ts";
import { assertRefused } from "./refusal.ts";
import { messageNamed } from "./schema.ts";

const get = messageNamed("GetHookRequest");
const search = messageNamed("SearchHooksRequest");
const patch = messageNamed("PatchHookRequest");
const revision = messageNamed("GetRevisionRequest");

function placement(desc = get, variables: string[] = [], body = "none"): Placement {
  const field = desc.fields.find((one) => one.name === body);
  const paths = variables.map((name): [string, FieldPath] => [
    name,
    resolveFieldPath(desc, name) ?? [],
  ]);
  return { body: body === "all" ? body : (field ?? "none"), variables: new Map(paths) };
}

/** What a query makes of an empty request, as ordinary objects. */
function placed(query: string, desc = get, where = placement(desc)): unknown {
  const root: JsonObject = Object.create(null);
  placeQuery(root, desc, query, where);
  return JSON.parse(JSON.stringify(root));
}

describe("placing a query into a request", () => {
  const accepted: [rule: string, query: string, request: object][] = [
    ["of nothing places nothing", "", {}],
    ["passes over empty pairs", "&&hook_id=1&", { hook_id: "1" }],
    ["takes names as in the schema", "hook_id=1", { hook_id: "1" }],
    ["takes names in lowerCamelCase", "hookId=1", { hook_id: "1" }],
    [
      "takes dotted names in any mixture of spellings",
      "ctx.orgId=1&hookLike.restWebhook.url=u",
      { ctx: { org_id: "1" }, hook_like: { rest_webhook: { url: "u" } } },
    ],
    ["takes a name without a value as empty text", "hook_id", { hook_id: "" }],
    ["takes what follows the first equals sign", "hook_id=a=b", { hook_id: "a=b" }],
    ["decodes names and values", "%68ook_id=a%26b%3D%C3%BC", { hook_id: "a&b=ü" }],
    ["takes plus as a blank and %2B as plus", "hook_id=a+b%2Bc", { hook_id: "a b+c" }],
    ["decodes once", "hook_id=%2541", { hook_id: "%41" }],
    [
      "fills lists of repeated parameters, in order",
      "tags=a&hook_id=1&tags=&tags=b",
      { tags: ["a", "", "b"], hook_id: "1" },
    ],
    [
      "fills lists of enums by name and number",
      "kinds=KIND_CALL&kinds=1",
      { kinds: ["KIND_CALL", 1] },
    ],
    ["takes enums by number", "kind=2", { kind: 2 }],
    ["takes bools", "ctx.system=true", { ctx: { system: true } }],
    ["takes wrapped bools", "verbose=false", { verbose: false }],
    [
      "keeps wrapped 64-bit integers as text",
      "after=9007199254740993",
      { after: "9007199254740993" },
    ],
    ["takes timestamps", "since=2024-01-01T00:00:00Z", { since: "2024-01-01T00:00:00Z" }],
    ["takes durations", "within=3s", { within: "3s" }],
    ["takes field masks", "mask=name,isAsync", { mask: "name,isAsync" }],
    ["takes floats", "ratio=1.5e3", { ratio: "1.5e3" }],
    ["takes base64", "token=YQ%3D%3D", { token: "YQ==" }],
  ];
  for (const [rule, query, request] of accepted) {
    it(rule, () => assert.deepEqual(placed(query), request));
  }
  it("takes the list query of a search, with 64-bit integers as text", () =>
    assert.deepEqual(
      placed(
        "query.offset=18446744073709551615&query.limit=100&query.asc=true&sorting_column=FIELD_NAME_NAME",
        search,
      ),
      {
        query: { offset: "18446744073709551615", limit: "100", asc: true },
        sorting_column: "FIELD_NAME_NAME",
      },
    ));
  it("takes 1000 parameters", () =>
    assert.equal(
      JSON.stringify(placed(Array(1000).fill("tags=a").join("&"))).split('"a"').length,
      1001,
    ));
});

describe("refusing a query", () => {
  const refused: [rule: string, query: string, reason: string, field: string, message: string][] = [
    [
      "an unknown name",
      "colour=1",
      "UNKNOWN_QUERY_PARAMETER",
      "colour",
      "no such parameter; accepted: hook_id, ctx.system, ctx.org_id, ctx.instance_id, tags, kinds, kind, since",
    ],
    [
      "an unknown nested name",
      "ctx.colour=1",
      "UNKNOWN_QUERY_PARAMETER",
      "ctx.colour",
      "ctx.org_id",
    ],
    [
      "a name in the wrong case",
      "Hook_Id=1",
      "UNKNOWN_QUERY_PARAMETER",
      "Hook_Id",
      "accepted: hook_id",
    ],
    ["no name", "=1", "UNKNOWN_QUERY_PARAMETER", "", "accepted: hook_id"],
    ["a message", "ctx=1", "UNKNOWN_QUERY_PARAMETER", "ctx", "accepted: hook_id, ctx.system"],
    ["a struct", "extra=1", "UNKNOWN_QUERY_PARAMETER", "extra", "no such parameter"],
    [
      "the inside of a struct",
      "extra.fields=1",
      "UNKNOWN_QUERY_PARAMETER",
      "extra.fields",
      "no such parameter",
    ],
    [
      "the inside of a timestamp",
      "since.seconds=1",
      "UNKNOWN_QUERY_PARAMETER",
      "since.seconds",
      "no such parameter",
    ],
    [
      "the inside of a scalar",
      "hook_id.x=1",
      "UNKNOWN_QUERY_PARAMETER",
      "hook_id.x",
      "no such parameter",
    ],
    ["a map", "labels=1", "UNKNOWN_QUERY_PARAMETER", "labels", "no such parameter"],
    ["an entry of a map", "labels.a=1", "UNKNOWN_QUERY_PARAMETER", "labels.a", "no such parameter"],
    ["an index", "tags[0]=1", "UNKNOWN_QUERY_PARAMETER", "tags[0]", "no such parameter"],
    [
      "a name with an empty step",
      "ctx..org_id=1",
      "UNKNOWN_QUERY_PARAMETER",
      "ctx..org_id",
      "no such parameter",
    ],
    ["__proto__", "__proto__=1", "UNKNOWN_QUERY_PARAMETER", "__proto__", "no such parameter"],
    [
      "the inside of __proto__",
      "__proto__.polluted=1",
      "UNKNOWN_QUERY_PARAMETER",
      "__proto__.polluted",
      "no such parameter",
    ],
    [
      "constructor.prototype",
      "ctx.constructor.prototype.polluted=1",
      "UNKNOWN_QUERY_PARAMETER",
      "ctx.constructor.prototype.polluted",
      "no such parameter",
    ],
    [
      "a name of 17 steps",
      `tree.${"left.".repeat(15)}leaf=1`,
      "UNKNOWN_QUERY_PARAMETER",
      `tree.${"left.".repeat(15)}leaf`,
      "no such parameter",
    ],
    [
      "a scalar twice",
      "hook_id=1&hook_id=1",
      "REPEATED_QUERY_PARAMETER",
      "hook_id",
      "send it once",
    ],
    [
      "a scalar in both spellings",
      "hook_id=1&hookId=2",
      "REPEATED_QUERY_PARAMETER",
      "hookId",
      "send it once",
    ],
    [
      "a nested scalar twice",
      "ctx.org_id=1&ctx.org_id=",
      "REPEATED_QUERY_PARAMETER",
      "ctx.org_id",
      "send it once",
    ],
    [
      "a bool in capitals",
      "ctx.system=True",
      "INVALID_QUERY_PARAMETER",
      "ctx.system",
      "send true or false",
    ],
    [
      "a bool as a number",
      "ctx.system=1",
      "INVALID_QUERY_PARAMETER",
      "ctx.system",
      "send true or false",
    ],
    ["an empty bool", "ctx.system=", "INVALID_QUERY_PARAMETER", "ctx.system", "send true or false"],
    [
      "an unknown enum name",
      "kind=FOO",
      "INVALID_QUERY_PARAMETER",
      "kind",
      "send one of KIND_UNSPECIFIED, KIND_WEBHOOK, KIND_CALL",
    ],
    [
      "an unknown enum name in a list",
      "kinds=1&kinds=FOO",
      "INVALID_QUERY_PARAMETER",
      "kinds",
      "send one of KIND_UNSPECIFIED",
    ],
    [
      "a time that is none",
      "since=yesterday",
      "INVALID_QUERY_PARAMETER",
      "since",
      "send a date and time",
    ],
    ["a float with a comma", "ratio=1,5", "INVALID_QUERY_PARAMETER", "ratio", "send a number"],
  ];
  for (const [rule, query, reason, field, message] of refused) {
    it(`refuses ${rule}`, () =>
      assertRefused(() => placed(query), { kind: "invalidArgument", reason, field, message }));
  }

  for (const limit of ["-1", "4294967296", "1.5", "abc", "NaN", "1e3", "0x10", "+", "%20", ""]) {
    it(`refuses "${limit}" as a limit`, () =>
      assertRefused(() => placed(`query.limit=${limit}`, search), {
        kind: "invalidArgument",
        reason: "INVALID_QUERY_PARAMETER",
        field: "query.limit",
        message: "query.limit: send a whole number from 0 to 4294967295",
      }));
  }
  for (const offset of ["18446744073709551616", "-1", "1e3", "%20", "9".repeat(5000)]) {
    it(`refuses "${offset.slice(0, 24)}" as an offset`, () =>
      assertRefused(() => placed(`query.offset=${offset}`, search), {
        kind: "invalidArgument",
        reason: "INVALID_QUERY_PARAMETER",
        field: "query.offset",
      }));
  }
  for (const query of [
    "hook_id=%",
    "hook_id=%zz",
    "hook_id=%C3",
    "%C0%AF=1",
    "hook_id=%ED%A0%80",
    "hook_id=ü",
    "hook_id=a b",
  ]) {
    it(`refuses the encoding of ${query}`, () =>
      assertRefused(() => placed(query), { kind: "invalidArgument", reason: "MALFORMED_QUERY" }));
  }
  it("refuses more than 1000 parameters", () =>
    assertRefused(() => placed(Array(1001).fill("tags=a").join("&")), {
      kind: "invalidArgument",
      reason: "TOO_MANY_QUERY_PARAMETERS",
      message: "1000",
    }));
  it("leaves every object as it was", () => {
    for (const query of [
      "__proto__.polluted=1",
      "ctx.__proto__.polluted=1",
      "labels.__proto__=1",
    ]) {
      assert.throws(() => placed(query));
    }
    assert.equal("polluted" in Object.prototype, false);
  });
});

describe("a query beside a path and a body", () => {
  const beside = placement(patch, ["hook_id", "ctx.org_id"], "hook");
  const refuses = (query: string, reason: string, field: string, where = beside) =>
    assertRefused(() => placed(query, patch, where), { kind: "invalidArgument", reason, field });

  it("sets what neither of them sets", () =>
    assert.deepEqual(placed("ctx.system=true", patch, beside), { ctx: { system: true } }));
  it("may not set what the path sets, in either spelling", () => {
    refuses("hook_id=1", "QUERY_PARAMETER_IN_PATH", "hook_id");
    refuses("hookId=1", "QUERY_PARAMETER_IN_PATH", "hookId");
    refuses("ctx.orgId=1", "QUERY_PARAMETER_IN_PATH", "ctx.orgId");
  });
  it("may not set anything inside the body", () =>
    refuses("hook.name=a", "QUERY_PARAMETER_IN_BODY", "hook.name"));
  it("may set nothing where all of the request is the body", () => {
    const all = placement(patch, ["hook_id"], "all");
    refuses("hook.name=a", "QUERY_PARAMETER_IN_BODY", "hook.name", all);
    assertRefused(() => placed("x=1", patch, all), {
      kind: "invalidArgument",
      reason: "UNKNOWN_QUERY_PARAMETER",
      field: "x",
      message: "accepted: none",
    });
  });
  it("is told only of parameters that it may set", () =>
    assertRefused(() => placed("x=1", patch, beside), {
      kind: "invalidArgument",
      reason: "UNKNOWN_QUERY_PARAMETER",
      field: "x",
      message: "accepted: ctx.system, ctx.instance_id",
    }));
});

describe("placing path variables into a request", () => {
  const where = placement(patch, ["hook_id", "ctx.org_id"], "all");
  const place = (root: JsonObject, ...captured: [string, string][]) => {
    placePathVariables(root, where, captured);
    return root;
  };
  it("makes the messages on the way", () =>
    assert.deepEqual(JSON.parse(JSON.stringify(place({}, ["hook_id", "1"], ["ctx.org_id", "2"]))), {
      hook_id: "1",
      ctx: { org_id: "2" },
    }));
  it("wins over the body, in either spelling", () =>
    assert.deepEqual(
      place(
        { hook_id: "9", hookId: "8", ctx: { orgId: "7" } },
        ["hook_id", "1"],
        ["ctx.org_id", "2"],
      ),
      {
        hook_id: "1",
        ctx: { org_id: "2" },
      },
    ));
  it("leaves a body of the wrong shape to its reader", () =>
    assert.deepEqual(place({ ctx: "wrong" }, ["ctx.org_id", "2"]), { ctx: "wrong" }));
  it("converts to the type of the field", () => {
    const root = {};
    const typed = placement(revision, ["revision", "kind"]);
    placePathVariables(root, typed, [
      ["revision", "9007199254740993"],
      ["kind", "2"],
    ]);
    assert.deepEqual(root, { revision: "9007199254740993", kind: 2 });
  });
  it("refuses text that is not of the type of the field", () =>
    assertRefused(
      () => placePathVariables({}, placement(revision, ["revision"]), [["revision", "latest"]]),
      {
        kind: "invalidArgument",
        reason: "INVALID_PATH_PARAMETER",
        field: "revision",
        message: "send a whole number",
      },
    ));
});

describe("resolving a field path", () => {
  const paths: [dotted: string, printed: string | undefined][] = [
    ["hook_id", "hook_id"],
    ["hookId", "hook_id"],
    ["ctx.orgId", "ctx.org_id"],
    ["ctx", "ctx"],
    [`tree.${"left.".repeat(14)}leaf`, `tree.${"left.".repeat(14)}leaf`],
    [`tree.${"left.".repeat(15)}leaf`, undefined],
    ["", undefined],
    ["ctx.", undefined],
    ["tags.x", undefined],
    ["labels.x", undefined],
    ["since.seconds", undefined],
    ["toString", undefined],
  ];
  for (const [dotted, printed] of paths) {
    it(`makes ${printed ?? "nothing"} of "${dotted}"`, () => {
      const path = resolveFieldPath(get, dotted);
      assert.equal(path && printFieldPath(path), printed);
    });
  }
});
