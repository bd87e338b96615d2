import assert from "node:assert/strict";
import {
  create,
  createFileRegistry,
  type DescMethod,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "#gen/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "#gen/google/api/http_pb.ts";
import type { MethodRule } from "../../../src/api/method-rule.ts";
import { openApiDocument } from "../../../src/api/system/openapi.ts";

export const issuer = "https://id.example.com";
export const defaults = { timeoutMs: 30_000, maxBodyBytes: 4 << 20 };

/** The document as a client reads it. */
export function documentOf(rules: Iterable<MethodRule>): unknown {
  return JSON.parse(JSON.stringify(openApiDocument(rules, { issuer, version: "1.2.3" })));
}

/** What is at a place of a document; undefined when a step is missing. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((node, step) => Reflect.get(Object(node), step), value);
}

export function entries(value: unknown): [string, unknown][] {
  return Object.entries(Object(value));
}

/** The elements of a list that may be missing. */
export function elements(value: unknown): unknown[] {
  return Object.values(Object(value));
}

export type Operation = { path: string; httpMethod: string; operation: unknown };

export function operationsOf(document: unknown): Operation[] {
  return entries(at(document, "paths")).flatMap(([path, operations]) =>
    entries(operations).map(([httpMethod, operation]) => ({ path, httpMethod, operation })),
  );
}

/** The rule of a method that says nothing of itself. */
export function ruleOf(method: DescMethod, rule: Partial<MethodRule> = {}): MethodRule {
  return {
    method,
    path: `/${method.parent.typeName}/${method.name}`,
    isChange: true,
    access: "authenticated",
    permission: "authenticated",
    systemPermission: "",
    policy: { act: "", read: "", ownData: false, onInstance: "" },
    permissionContext: "anywhere",
    holds: undefined,
    sessionActs: false,
    unfinishedSession: undefined,
    stepUp: false,
    feature: "",
    successStatus: 200,
    streamsBody: false,
    executionsExempt: false,
    jsonNames: "proto",
    ignoreUnknownFields: false,
    noSystemContext: false,
    ...defaults,
    ...rule,
  };
}

export type HttpRule = MessageInitShape<typeof HttpRuleSchema>;

/** A method of a service made up for a test. Its request has the texts `a`, `b` and `c`. */
export function made(service: string, rule: HttpRule, of: { streams?: boolean } = {}): DescMethod {
  const options = create(MethodOptionsSchema);
  setExtension(options, http, create(HttpRuleSchema, rule));
  const text = { type: Type.STRING, label: Label.OPTIONAL };
  const file = create(FileDescriptorProtoSchema, {
    name: `${service}.proto`,
    syntax: "proto3",
    package: service.slice(0, service.lastIndexOf(".")),
    messageType: [
      {
        name: "M",
        field: ["a", "b", "c"].map((name, index) => ({ name, number: index + 1, ...text })),
      },
    ],
    service: [
      {
        name: service.slice(service.lastIndexOf(".") + 1),
        method: [
          {
            name: "Do",
            inputType: `.${service.slice(0, service.lastIndexOf("."))}.M`,
            outputType: `.${service.slice(0, service.lastIndexOf("."))}.M`,
            serverStreaming: of.streams ?? false,
            options,
          },
        ],
      },
    ],
  });
  const method = createFileRegistry(file, () => undefined).getService(service)?.methods[0];
  assert.ok(method);
  return method;
}

/** The rule of a GET. */
export const get = (path: string): HttpRule => ({ pattern: { case: "get", value: path } });

/** Proves what OpenAPI demands beyond its own schema: names that resolve, parameters that match their path. */
export function assertSound(document: unknown): void {
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => at(operation, "operationId"));
  assert.equal(new Set(ids).size, ids.length, "operation ids are unique");
  const tags = elements(at(document, "tags")).map((tag) => at(tag, "name"));

  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    const parameters = elements(at(operation, "parameters"));
    const keys = parameters.map((one) => `${String(at(one, "in"))} ${String(at(one, "name"))}`);
    assert.equal(new Set(keys).size, keys.length, `${path}: a parameter is there twice`);
    const declared = keys.filter((key) => key.startsWith("path "));
    assert.deepEqual(
      declared,
      inPath.map((name) => `path ${name}`),
    );
    for (const one of parameters) {
      assert.ok(at(one, "schema"), path);
      if (at(one, "in") === "path") assert.equal(at(one, "required"), true);
    }
    for (const tag of elements(at(operation, "tags"))) assert.ok(tags.includes(tag));
    const statuses = Object.keys(Object(at(operation, "responses")));
    assert.ok(
      statuses.some((status) => status.startsWith("2")),
      path,
    );
    assert.ok(statuses.includes("default"), path);
  }
  for (const node of nodesOf(document)) {
    const reference = at(node, "$ref");
    if (typeof reference === "string") {
      const [root, ...steps] = reference.split("/");
      assert.equal(root, "#");
      assert.notEqual(at(document, ...steps), undefined, reference);
    }
    const pattern = at(node, "pattern");
    // A pattern of RE2 that is none of ECMA-262 has no meaning in JSON Schema.
    if (typeof pattern === "string") assert.doesNotThrow(() => new RegExp(pattern, "u"));
  }
  for (const name of Object.keys(Object(at(document, "components", "schemas")))) {
    assert.match(name, /^[A-Za-z0-9._-]+$/);
  }
  const shapes = Object.keys(Object(at(document, "paths"))).map((path) =>
    path.replace(/\{[^}]+\}/g, "{}"),
  );
  assert.equal(new Set(shapes).size, shapes.length, "no two paths match the same");
}

function* nodesOf(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}
