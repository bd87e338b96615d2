// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { type Binding, bindRequest, restBindings } from "../../../src/api/transcode/body.ts";
import { assertRefused } from "./refusal.ts";
import { methodNamed } from "./schema.ts";

type Sent = {
  body?: string | Uint8Array;
  query?: string;
  variables?: [string, string][];
  contentType?: string | undefined;
  ignoreUnknownFields?: boolean;
  /** Which of the bindings of the method. */
  binding?: number;
};

function bindingOf(name: string, index = 0): Binding {
  const binding = restBindings(methodNamed("HookService", name))[index];
  assert.ok(binding);
  return binding;
}

/** The request message that a REST call becomes, as plain protobuf JSON. */
function bound(name: string, sent: Sent): unknown {
  const method = methodNamed("HookService", name);
  const { body = "", query = "", variables = [], ignoreUnknownFields = false } = sent;
  const message = bindRequest({
    method,
    binding: bindingOf(name, sent.binding),
    variables,
    query,
    body: typeof body === "string" ? Buffer.from(body) : body,
    contentType: "contentType" in sent ? sent.contentType : "application/json",
    ignoreUnknownFields,
  });
  return toJson(method.input, message);
}

describe("reading the bindings of a method", () => {
  it("takes method, path, variables, body and response body", () => {
    const binding = bindingOf("GetHook");
    assert.deepEqual(
      [
        binding.httpMethod,
        binding.template.text,
        [...binding.variables.keys()],
        binding.body,
        binding.responseBody?.name,
      ],
      ["GET", "/hooks/{hook_id}", ["hook_id"], "none", "hook"],
    );
  });
  it("takes additional bindings, each with its own body", () => {
    const bindings = restBindings(methodNamed("HookService", "PatchHook"));
    assert.deepEqual(
      bindings.map(({ template, body }) => [
        template.text,
        typeof body === "string" ? body : body.name,
      ]),
      [
        ["/hooks/{hook_id}", "all"],
        ["/orgs/{ctx.org_id}/hooks/{hook_id}", "hook"],
      ],
    );
  });
  it("finds none where the schema states none", () =>
    assert.deepEqual(restBindings(methodNamed("HookService", "Unmapped")), []));

  const broken: [name: string, message: string][] = [
    ["UnknownVariable", "the path names id, which is no field of GetHookRequest"],
    ["CamelVariable", "the path names hookId, which is no field of GetHookRequest"],
    ["MessageVariable", "the path variable ctx is a list, a map or a message"],
    ["ListVariable", "the path variable tags is a list, a map or a message"],
    ["UnknownBody", "GetHookRequest has no field hook to be the body"],
    ["UnknownResponseBody", "HookResponse has no field result to be the body"],
    ["BodyOfGet", "GET takes no body"],
    ["NoPattern", "the rule names no HTTP method"],
    ["AnyMethod", "the rule names no HTTP method"],
  ];
  for (const [name, message] of broken) {
    it(`refuses ${name}: ${message}`, () =>
      assertRefused(() => restBindings(methodNamed("BrokenService", name)), {
        kind: "internal",
        reason: "INVALID_HTTP_RULE",
        message: `test.transcode.BrokenService.${name}: ${message}`,
      }));
  }
  it("refuses a path that can not be parsed", () =>
    assertRefused(() => restBindings(methodNamed("BrokenService", "BadTemplate")), {
      kind: "internal",
      reason: "INVALID_PATH_TEMPLATE",
      message: "column 16",
    }));
});

describe("a body that is one field", () => {
  it("is the message of that field, beside the query", () =>
    assert.deepEqual(bound("CreateHook", { body: '{"name":"a"}', query: "ctx.org_id=1" }), {
      hook: { name: "a" },
      ctx: { orgId: "1" },
    }));
  it("leaves the field absent when it is not sent", () =>
    assert.deepEqual(bound("CreateHook", { contentType: undefined }), {}));
  it("leaves the field absent when it is null", () =>
    assert.deepEqual(bound("CreateHook", { body: "null" }), {}));
  it("keeps 64-bit integers sent as numbers exact", () =>
    assert.deepEqual(bound("CreateHook", { body: '{"sequence":18446744073709551615}' }), {
      hook: { sequence: "18446744073709551615" },
    }));

  const refused: [rule: string, body: string, reason: string, field: string, message: string][] = [
    ["a list", "[]", "INVALID_JSON_FIELD", "hook", "send a JSON object, a Hook, not a list"],
    ["text", '"a"', "INVALID_JSON_FIELD", "hook", "send a JSON object, a Hook, not a string"],
    [
      "the request around the field",
      '{"hook":{}}',
      "UNKNOWN_FIELD",
      "hook.hook",
      "Hook has no such field",
    ],
    [
      "a wrong inner field",
      '{"restWebhook":{"url":1}}',
      "INVALID_JSON_FIELD",
      "hook.rest_webhook.url",
      "send a string",
    ],
    [
      "constructor as a field",
      '{"constructor":{}}',
      "UNKNOWN_FIELD",
      "hook.constructor",
      "accepted: name",
    ],
  ];
  for (const [rule, body, reason, field, message] of refused) {
    it(`refuses ${rule}`, () =>
      assertRefused(() => bound("CreateHook", { body }), {
        kind: "invalidArgument",
        reason,
        field,
        message,
      }));
  }
  it("may not be set by the query too", () =>
    assertRefused(() => bound("CreateHook", { body: "{}", query: "hook.name=b" }), {
      kind: "invalidArgument",
      reason: "QUERY_PARAMETER_IN_BODY",
      field: "hook.name",
    }));
  it("passes over unknown fields where the method allows it", () =>
    assert.deepEqual(
      bound("CreateHook", { body: '{"name":"a","gone":1}', ignoreUnknownFields: true }),
      {
        hook: { name: "a" },
      },
    ));
});

describe("a body that is a list", () => {
  const nameFilter = '{"name_filter":{"name":"a","method":1}}';
  it("is the bare list", () =>
    assert.deepEqual(
      bound("SearchHooks", {
        body: `[${nameFilter},{"inIdsFilter":{"ids":["1"]}}]`,
        query: "query.limit=5",
      }),
      {
        query: { limit: 5 },
        filters: [
          { nameFilter: { name: "a", method: "KIND_WEBHOOK" } },
          { inIdsFilter: { ids: ["1"] } },
        ],
      },
    ));
  it("is no filter when it is not sent, empty, or an empty list", () => {
    assert.deepEqual(bound("SearchHooks", { contentType: undefined }), {});
    assert.deepEqual(bound("SearchHooks", {}), {});
    assert.deepEqual(bound("SearchHooks", { body: "[]" }), {});
  });

  const refused: [rule: string, body: string, field: string, message: string][] = [
    [
      "an object where the list belongs",
      nameFilter,
      "filters",
      "send a JSON array of Filter, not an object",
    ],
    [
      "the list under its name",
      `{"filters":[${nameFilter}]}`,
      "filters",
      "send a JSON array of Filter, not an object",
    ],
    ["text in the list", '["a"]', "filters[0]", "send a JSON object, a Filter, not a string"],
    ["a list in the list", "[[]]", "filters[0]", "send a JSON object, a Filter, not a list"],
    [
      "both members of a oneof",
      `[{},{"name_filter":{},"in_ids_filter":{}}]`,
      "filters[1].in_ids_filter",
      "name_filter is set too",
    ],
    [
      "a wrong enum name",
      '[{"name_filter":{"method":"kind_call"}}]',
      "filters[0].name_filter.method",
      "send one of KIND_",
    ],
  ];
  for (const [rule, body, field, message] of refused) {
    it(`refuses ${rule}`, () =>
      assertRefused(() => bound("SearchHooks", { body }), {
        kind: "invalidArgument",
        reason: "INVALID_JSON_FIELD",
        field,
        message,
      }));
  }
});

describe("a body that is the whole request", () => {
  const variables: [string, string][] = [["hook_id", "1"]];
  it("is completed by the path", () =>
    assert.deepEqual(bound("PatchHook", { body: '{"hook":{"name":"a"}}', variables }), {
      hookId: "1",
      hook: { name: "a" },
    }));
  it("is overruled by the path, in either spelling", () => {
    assert.deepEqual(bound("PatchHook", { body: '{"hook_id":"2"}', variables }), { hookId: "1" });
    assert.deepEqual(bound("PatchHook", { body: '{"hookId":"2"}', variables }), { hookId: "1" });
  });
  it("is only the path when it is not sent", () =>
    assert.deepEqual(bound("PatchHook", { variables }), { hookId: "1" }));
  it("is refused when it is no object", () =>
    assertRefused(() => bound("PatchHook", { body: "[]", variables }), {
      kind: "invalidArgument",
      reason: "INVALID_JSON_FIELD",
      field: "",
      message: "send a JSON object, a PatchHookRequest, not a list",
    }));
  it("leaves nothing to the query", () =>
    assertRefused(() => bound("PatchHook", { query: "ctx.org_id=1", variables }), {
      kind: "invalidArgument",
      reason: "QUERY_PARAMETER_IN_BODY",
      field: "ctx.org_id",
    }));
});

describe("a request of path and query", () => {
  it("joins both, into one message too", () =>
    assert.deepEqual(
      bound("PatchHook", {
        binding: 1,
        variables: [
          ["ctx.org_id", "7"],
          ["hook_id", "1"],
        ],
        body: '{"name":"a"}',
      }),
      {
        ctx: { orgId: "7" },
        hookId: "1",
        hook: { name: "a" },
      },
    ));
  it("is refused when path and query set two members of a oneof", () =>
    assertRefused(
      () =>
        bound("PatchHook", {
          binding: 1,
          variables: [["ctx.org_id", "7"]],
          query: "ctx.system=true",
        }),
      {
        kind: "invalidArgument",
        reason: "INVALID_JSON_FIELD",
        field: "ctx.org_id",
        message: "system is set too",
      },
    ));
  it("converts variables to the types of their fields", () =>
    assert.deepEqual(
      bound("GetRevision", {
        variables: [
          ["revision", "-9007199254740993"],
          ["kind", "KIND_CALL"],
        ],
      }),
      {
        revision: "-9007199254740993",
        kind: "KIND_CALL",
      },
    ));
  it("D88: takes the empty object that clients send without being asked, whatever its media type (A4)", () => {
    for (const body of ["{}", " {}\n"]) {
      assert.deepEqual(
        bound("DeleteHook", { body, contentType: "text/plain", variables: [["hook_id", "1"]] }),
        bound("DeleteHook", { variables: [["hook_id", "1"]] }),
      );
    }
  });
  for (const body of ['{"a":1}', "{ }x", " ", "null"]) {
    it(`takes no other body, not even ${JSON.stringify(body)}`, () =>
      assertRefused(() => bound("DeleteHook", { body, variables: [["hook_id", "1"]] }), {
        kind: "invalidArgument",
        reason: "UNEXPECTED_BODY",
        message: "this method takes no body",
      }));
  }
});

describe("the media type of a body", () => {
  const accepted = [
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json ; charset="utf-8" ',
  ];
  for (const contentType of accepted) {
    it(`may be ${contentType}`, () =>
      assert.deepEqual(bound("CreateHook", { body: "{}", contentType }), { hook: {} }));
  }
  const refused = [
    undefined,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json5",
    "application/merge-patch+json",
    "application/grpc+json",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/json, text/plain",
    "x application/json",
  ];
  for (const contentType of refused) {
    it(`may not be ${contentType ?? "unsaid"}`, () =>
      assertRefused(() => bound("CreateHook", { body: "{}", contentType }), {
        kind: "invalidArgument",
        reason: "UNSUPPORTED_MEDIA_TYPE",
        httpStatus: 415,
        message: "content-type: application/json",
      }));
  }
  it("does not matter without a body", () =>
    assert.deepEqual(bound("CreateHook", { contentType: "text/plain" }), {}));
});

describe("malformed JSON in a body", () => {
  const bodies: [why: string, body: string | Uint8Array][] = [
    ["a duplicate key", '{"name":"a","name":"b"}'],
    ["__proto__", '{"__proto__":{"name":"a"}}'],
    ["a byte order mark", "\uFEFF{}"],
    ["a trailing comma", '{"name":"a",}'],
    ["UTF-16", Buffer.from("{}", "utf16le")],
    ["invalid UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["half a surrogate pair", '{"name":"\\ud800"}'],
    ["1e400", '{"ratio":1e400}'],
    ["a comment", '{"name":"a"/* b */}'],
    ["a depth of 1000", "[".repeat(1000) + "]".repeat(1000)],
    ["only a blank", " "],
  ];
  for (const [why, body] of bodies) {
    it(`is refused for ${why}`, () =>
      assertRefused(() => bound("CreateHook", { body }), {
        kind: "invalidArgument",
        reason: "MALFORMED_JSON",
      }));
  }
});
