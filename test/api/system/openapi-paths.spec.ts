// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { methodNamed } from "../transcode/schema.ts";
import {
  assertSound,
  at,
  documentOf,
  elements,
  get,
  type HttpRule,
  made,
  ruleOf,
} from "./openapi-document.ts";

describe("a binding", () => {
  const hooks = ["PatchHook", "GetHook", "DeleteHook", "GetRevision"].map((name) =>
    ruleOf(methodNamed("HookService", name)),
  );
  const document = documentOf(hooks);
  const namesIn = (operation: unknown, place: string) =>
    elements(at(operation, "parameters"))
      .filter((parameter) => at(parameter, "in") === place)
      .map((parameter) => at(parameter, "name"));

  it("whose body is the rest of the request leaves the path out of it, and has no query", () => {
    const operation = at(document, "paths", "/hooks/{hook_id}", "patch");
    assert.deepEqual(namesIn(operation, "query"), []);
    const schema = at(operation, "requestBody", "content", "application/json", "schema");
    assert.deepEqual(Object.keys(Object(at(schema, "properties"))), ["ctx", "hook"]);
  });
  it("beside another one of the method has an id of its own", () => {
    const operation = at(document, "paths", "/orgs/{ctx.org_id}/hooks/{hook_id}", "patch");
    assert.equal(at(operation, "operationId"), "HookService_PatchHook_2");
    assert.deepEqual(namesIn(operation, "path"), ["ctx.org_id", "hook_id"]);
    assert.deepEqual(namesIn(operation, "query"), ["ctx.system", "ctx.instance_id"]);
  });
  it("can answer with one field of the response", () =>
    assert.deepEqual(
      at(document, "paths", "/hooks/{hook_id}", "get", "responses", "200", "content"),
      { "application/json": { schema: { $ref: "#/components/schemas/test.transcode.Hook" } } },
    ));
  it("types path variables", () => {
    const operation = at(document, "paths", "/revisions/{revision}/{kind}", "get");
    assert.deepEqual(
      elements(at(operation, "parameters")).map((one) => at(one, "schema")),
      [{ type: "string", format: "int64" }, { $ref: "#/components/schemas/test.transcode.Kind" }],
    );
  });
  it("takes from the query what one parameter can hold, through messages, never in circles", () =>
    assert.equal(
      namesIn(at(document, "paths", "/hooks/{hook_id}", "delete"), "query").join(" "),
      [
        "ctx.system ctx.org_id ctx.instance_id",
        "tags kinds kind since within mask verbose after",
        "hook_like.name hook_like.rest_webhook.url hook_like.rest_request_response.url",
        "hook_like.timeout hook_like.kind hook_like.tags hook_like.sequence hook_like.balance",
        "hook_like.rank hook_like.weight hook_like.ratio hook_like.token hook_like.is_async",
        "hook_like.note hook_like.changed hook_like.retries hook_like.kinds hook_like.mask",
        "ratio token tree.leaf",
      ].join(" "),
    ));
  it("is spelled as its service spells JSON", () => {
    const camel = documentOf(hooks.map((rule) => ({ ...rule, jsonNames: "lowerCamel" as const })));
    const operation = at(camel, "paths", "/orgs/{ctx.orgId}/hooks/{hookId}", "patch");
    assert.deepEqual(namesIn(operation, "path"), ["ctx.orgId", "hookId"]);
    assert.deepEqual(namesIn(operation, "query"), ["ctx.system", "ctx.instanceId"]);
  });
});

describe("a path", () => {
  const pathsOf = (...methods: DescMethod[]) =>
    Object.keys(Object(at(documentOf(methods.map((method) => ruleOf(method))), "paths")));

  it("has its fixed segments, wildcards and verb", () => {
    assert.deepEqual(pathsOf(made("a.S", get("/v1/{a=orgs/*}/x:run"))), ["/v1/orgs/{a}/x:run"]);
    assert.deepEqual(pathsOf(made("a.S", get("/v1/{a=orgs/*/x/*}"))), ["/v1/orgs/{a.1}/x/{a.2}"]);
    assert.deepEqual(pathsOf(made("a.S", get("/v1/*/{b=**}"))), ["/v1/{segment_2}/{b}"]);
  });
  it("is one path when only the names of its parameters differ", () => {
    const put: HttpRule = { pattern: { case: "put", value: "/x/{b}/{a}" }, body: "*" };
    const methods = [made("one.S", get("/x/{a}/{b}")), made("two.T", put)];
    assert.deepEqual(pathsOf(...methods), ["/x/{a}/{b}"]);
    assertSound(documentOf(methods.map((method) => ruleOf(method))));
  });
  it("of a method that OpenAPI does not know is left out", () =>
    assert.deepEqual(
      pathsOf(made("a.S", { pattern: { case: "custom", value: { kind: "PURGE", path: "/x" } } })),
      [],
    ));
});
