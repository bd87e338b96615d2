// Run: shared
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createRegistry,
  type DescFile,
  type DescMessage,
  fromJson,
  getOption,
  hasOption,
  type JsonValue,
} from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { http } from "#gen/google/api/annotations_pb.ts";
import {
  file_idsvc_options_v1_options,
  method as methodOptions,
} from "#gen/idsvc/options/v1/options_pb.ts";
import {
  ActionService,
  CreateTargetRequestSchema,
  DeleteTargetRequestSchema,
  PatchTargetRequestSchema,
  PutExecutionRequestSchema,
  SearchExecutionsRequestSchema,
  SearchTargetsRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { StateFilterSchema } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import {
  FeatureService,
  SetFeaturesRequestSchema,
} from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import {
  SetStringLongSchema,
  SetStringSchema,
  SetStringShortSchema,
} from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";

describe("a file of the schema", () => {
  it("is described with the files that it imports, and those with theirs", async () => {
    const root = join(import.meta.dirname, "../..");
    const modules = globSync("gen/**/*_pb.ts", { cwd: root }).map(
      (path) => import(pathToFileURL(join(root, path)).href) as Promise<object>,
    );
    const isFile = (each: unknown): each is DescFile => Object(each).kind === "file";
    const files = (await Promise.all(modules))
      .flatMap((each) => Object.values(each))
      .filter(isFile);
    assert.ok(files.length > 100);
    const known = new Map(files.map((file) => [file.name, file]));
    let count = 0;
    for (const { name, proto, dependencies } of files) {
      assert.deepEqual(
        dependencies.map((file) => file.proto.name),
        proto.dependency,
        name,
      );
      for (const file of dependencies) {
        assert.equal(file, known.get(file.name) ?? file, name);
        assert.equal(file.dependencies.length, file.proto.dependency.length, file.name);
        count += 1;
      }
    }
    assert.ok(count > 300);
  });
});

const validator = createValidator({ registry: createRegistry(file_idsvc_options_v1_options) });

/** The broken rules of a message, as `field: rule`. */
function violations(schema: DescMessage, json: JsonValue): string[] {
  const result = validator.validate(schema, fromJson(schema, json));
  if (result.kind === "error") throw result.error;
  return (result.violations ?? []).map(({ field, ruleId }) => {
    const path = field.map((part) => ("name" in part ? part.name : part.kind));
    return `${path.join(".")}: ${ruleId}`;
  });
}

const webhook = { rest_webhook: { url: "https://example.test/hook" } };
const target = { name: "audit", ...webhook };
const ids = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

/** The broken rules of a target on create, with some members of a correct one replaced. */
const creating = (members: Record<string, JsonValue>) =>
  violations(CreateTargetRequestSchema, { target: { ...target, ...members } });

describe("the name of a target", () => {
  for (const name of [
    "audit",
    "a",
    "Prüf-Ziel 1",
    "監査 ターゲット",
    "e\u0301tat",
    "🚀 launch",
    "n".repeat(200),
    "🚀".repeat(200),
    "<script>; -- %_\\'",
  ]) {
    it(`may be ${JSON.stringify(name.slice(0, 20))} (${name.length})`, () => {
      assert.deepEqual(creating({ name }), []);
    });
  }

  for (const [what, name] of [
    ["NUL", "a\u0000b"],
    ["a line feed", "a\nb"],
    ["a tab at its end", "a\t"],
    ["DEL", "a\u007fb"],
    ["a control beyond ASCII", "a\u0085b"],
    ["a bidirectional override", "a\u202eb"],
    ["a bidirectional isolate", "a\u2066b"],
    ["a right-to-left mark", "a\u200fb"],
    ["a zero-width space", "a\u200bb"],
    ["a zero-width joiner", "a\u200db"],
    ["a byte order mark", "\ufeffab"],
    ["a soft hyphen", "a\u00adb"],
    ["a tag character", "a\u{e0041}b"],
    ["a line separator", "a\u2028b"],
    ["a paragraph separator", "a\u2029b"],
    ["a private-use character", "a\ue000b"],
    ["a private-use character beyond the first plane", "a\u{f0000}b"],
  ] as const) {
    it(`must not hold ${what}`, () => {
      assert.ok(creating({ name }).includes("target.name: string.display_name.characters"));
    });
  }

  it("must not hold half a surrogate pair", () => {
    for (const name of ["a\ud83db", "a\ude80b"]) {
      assert.throws(() => creating({ name }), /invalid UTF8/);
    }
  });

  for (const name of [" a", "a ", "a\u00a0", "\u3000a", "a\u2003", " "]) {
    it(`must not begin or end with white space: ${JSON.stringify(name)}`, () => {
      assert.deepEqual(creating({ name }), ["target.name: string.display_name.white_space"]);
    });
  }

  it("says in words what is wrong", () => {
    const json = { target: { ...target, name: "a\u202eb" } };
    const { violations: found } = validator.validate(
      CreateTargetRequestSchema,
      fromJson(CreateTargetRequestSchema, json),
    );
    assert.equal(
      found?.[0]?.message,
      "must not contain control, format, separator or private-use characters",
    );
  });

  it("has 1 to 200 characters", () => {
    assert.deepEqual(creating({ name: "" }), ["target.name: required"]);
    assert.deepEqual(creating({ name: "n".repeat(201) }), ["target.name: string.max_len"]);
  });

  it("follows the same rules in a patch, where it may be absent", () => {
    const patching = (patch: JsonValue) =>
      violations(PatchTargetRequestSchema, { id: "1", target: patch });
    assert.deepEqual(patching({}), []);
    assert.deepEqual(patching({ name: "audit" }), []);
    assert.deepEqual(patching({ name: "" }), ["target.name: string.min_len"]);
    assert.deepEqual(patching({ name: "a " }), ["target.name: string.display_name.white_space"]);
  });
});

describe("the kind of a target", () => {
  it("is required on create", () => {
    assert.deepEqual(violations(CreateTargetRequestSchema, { target: { name: "audit" } }), [
      "target.target_type: required",
    ]);
  });

  it("is one only", () => {
    assert.throws(() => creating({ rest_request_response: { url: "https://example.test" } }));
  });

  it("may be absent from a patch", () => {
    const patch = { id: "1", target: { timeout: "3s" } };
    assert.deepEqual(violations(PatchTargetRequestSchema, patch), []);
  });

  it("goes with at most one of is_async and interrupt_on_error", () => {
    assert.deepEqual(creating({ is_async: true }), []);
    assert.deepEqual(creating({ interrupt_on_error: true }), []);
    assert.throws(() => creating({ is_async: true, interrupt_on_error: true }));
  });
});

describe("the url of a target", () => {
  const at = (url: string) => creating({ rest_webhook: { url } });
  const long = (length: number) => "https://example.test/".padEnd(length, "x");

  it("is an http or https URI of at most 1000 characters", () => {
    for (const url of ["http://localhost:9090/x?y=z", "HTTPS://example.test", long(1000)]) {
      assert.deepEqual(at(url), []);
    }
  });

  for (const [url, rule] of [
    ["", "required"],
    [long(1001), "string.max_len"],
    ["https://exa mple.test", "string.uri"],
    ["ftp://example.test", "string.http_url"],
    ["javascript:alert(1)", "string.http_url"],
    ["file:///etc/passwd", "string.http_url"],
  ] as const) {
    it(`is not ${JSON.stringify(url.slice(0, 30))} (${url.length})`, () => {
      assert.deepEqual(at(url), [`target.rest_webhook.url: ${rule}`]);
    });
  }
});

describe("the timeout of a target", () => {
  it("is more than 0 and at most 270 seconds", () => {
    for (const timeout of ["0.000000001s", "10s", "270s"]) {
      assert.deepEqual(creating({ timeout }), []);
    }
    for (const timeout of ["0s", "-1s", "270.000000001s"]) {
      assert.deepEqual(creating({ timeout }), ["target.timeout: duration.gt_lte"]);
    }
  });
});

describe("an execution", () => {
  const putting = (condition: JsonValue, members: Record<string, JsonValue> = { targets: ["1"] }) =>
    violations(PutExecutionRequestSchema, { execution: { condition, ...members } });

  it("runs on exactly one condition", () => {
    for (const condition of [
      { request: { method: "/p.S/M" } },
      { response: { service: "p.S" } },
      { event: { group: "user" } },
      { event: { all: true } },
      { function: "preuserinfo" },
    ]) {
      assert.deepEqual(putting(condition), []);
    }
    assert.deepEqual(putting({}), ["execution.condition.condition_type: required"]);
    assert.deepEqual(putting({ request: {} }), ["execution.condition.request.condition: required"]);
    assert.deepEqual(putting({ event: { all: false } }), [
      "execution.condition.event.all: bool.const",
    ]);
    assert.deepEqual(violations(PutExecutionRequestSchema, { execution: { targets: ["1"] } }), [
      "execution.condition: required",
    ]);
  });

  it("names a condition in 1 to 1000 characters", () => {
    assert.deepEqual(putting({ function: "f".repeat(1000) }), []);
    assert.deepEqual(putting({ function: "" }), ["execution.condition.function: string.min_len"]);
    assert.deepEqual(putting({ response: { method: "m".repeat(1001) } }), [
      "execution.condition.response.method: string.max_len",
    ]);
  });

  it("calls or includes something, at most 1000 each", () => {
    const condition = { event: { all: true } };
    assert.deepEqual(putting(condition, { includes: ["event"] }), []);
    assert.deepEqual(putting(condition, {}), ["execution: execution.calls_something"]);
    assert.deepEqual(putting(condition, { targets: ids(1000), includes: ids(1000) }), []);
    assert.deepEqual(putting(condition, { targets: ids(1001) }), [
      "execution.targets: repeated.max_items",
    ]);
  });
});

describe("the limits of requests", () => {
  it("hold ids in paths to 1 to 200 characters", () => {
    assert.deepEqual(violations(DeleteTargetRequestSchema, { id: "x".repeat(200) }), []);
    assert.deepEqual(violations(DeleteTargetRequestSchema, {}), ["id: required"]);
    assert.deepEqual(violations(DeleteTargetRequestSchema, { id: "x".repeat(201) }), [
      "id: string.max_len",
    ]);
  });

  it("hold searches to 100 filters, 1000 ids and the values of enums", () => {
    const searching = (json: JsonValue) => violations(SearchTargetsRequestSchema, json);
    const filter = { in_ids: { ids: ids(1000) } };
    assert.deepEqual(searching({ filters: Array(100).fill(filter) }), []);
    assert.deepEqual(searching({ filters: Array(101).fill(filter) }), [
      "filters: repeated.max_items",
    ]);
    assert.deepEqual(searching({ filters: [{}] }), ["filters.list_sub.filter: required"]);
    assert.deepEqual(searching({ filters: [{ in_ids: { ids: ids(1001) } }] }), [
      "filters.list_sub.in_ids.ids: repeated.max_items",
    ]);
    assert.deepEqual(searching({ filters: [{ name: { name: "x".repeat(201), method: 99 } }] }), [
      "filters.list_sub.name.name: string.max_len",
      "filters.list_sub.name.method: enum.defined_only",
    ]);
    assert.deepEqual(searching({ sorting_column: 99 }), ["sorting_column: enum.defined_only"]);
    assert.deepEqual(
      violations(SearchExecutionsRequestSchema, {
        filters: [{ in_conditions: { conditions: Array(1001).fill({ function: "f" }) } }],
      }),
      ["filters.list_sub.in_conditions.conditions: repeated.max_items"],
    );
  });

  it("hold a state filter to a defined state", () => {
    assert.deepEqual(violations(StateFilterSchema, { state: "EFFECTIVE_STATE_ACTIVE" }), []);
    assert.deepEqual(violations(StateFilterSchema, {}), ["state: required"]);
    assert.deepEqual(violations(StateFilterSchema, { state: 99 }), ["state: enum.defined_only"]);
  });

  it("hold settings of texts to 64, 256 and 2048 characters", () => {
    for (const [schema, length] of [
      [SetStringShortSchema, 64],
      [SetStringSchema, 256],
      [SetStringLongSchema, 2048],
    ] as const) {
      assert.deepEqual(violations(schema, { set: "x".repeat(length) }), []);
      assert.deepEqual(violations(schema, { set: "x".repeat(length + 1) }), [
        "set: string.max_len",
      ]);
      assert.deepEqual(violations(schema, { reset: true }), []);
      assert.deepEqual(violations(schema, { reset: false }), ["reset: bool.const"]);
      assert.deepEqual(violations(schema, {}), ["value: required"]);
    }
  });

  it("let features be set on the system or an instance only", () => {
    const setting = (ctx: JsonValue) => violations(SetFeaturesRequestSchema, { ctx, settings: {} });
    assert.deepEqual(violations(SetFeaturesRequestSchema, { settings: {} }), []);
    assert.deepEqual(setting({ system: true }), []);
    assert.deepEqual(setting({ instance_id: "1" }), []);
    assert.deepEqual(setting({ system: false }), ["ctx.system: bool.const"]);
    assert.deepEqual(setting({}), ["ctx.context: required"]);
    assert.deepEqual(setting({ org_id: "1" }), ["ctx: ctx.system_or_instance"]);
  });
});

describe("the schema", () => {
  const services = [ActionService, FeatureService];

  for (const method of services.flatMap((service) => service.methods)) {
    it(`states path and permission of ${method.parent.name}.${method.name}`, () => {
      assert.ok(hasOption(method, http));
      assert.notEqual(getOption(method, methodOptions).permission, "");
    });
  }
});
