import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { describe, it } from "node:test";
import {
  create,
  createFileRegistry,
  type DescMethod,
  type DescService,
  type JsonValue,
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
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { type MethodRule, methodRule } from "../../../src/api/method-rule.ts";
import { openApiDocument } from "../../../src/api/system/openapi.ts";
import { methodNamed } from "../transcode/schema.ts";

const issuer = "https://id.example.com";
const defaults = { timeoutMs: 30_000, maxBodyBytes: 4 << 20 };
const rules = [...ActionService.methods, ...FeatureService.methods].map((method) =>
  methodRule(method, defaults),
);

const allMethods = await methodsOfSchema();

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function documentOf(of: Iterable<MethodRule> = rules): unknown {
  return plain(openApiDocument(of, { issuer, version: "1.2.3" }));
}

function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((node, step) => Reflect.get(Object(node), step), value);
}

function entries(value: unknown): [string, unknown][] {
  return Object.entries(Object(value));
}

type Operation = { path: string; httpMethod: string; operation: unknown };

function operationsOf(document: unknown): Operation[] {
  return entries(at(document, "paths")).flatMap(([path, operations]) =>
    entries(operations).map(([httpMethod, operation]) => ({ path, httpMethod, operation })),
  );
}

function* nodesOf(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}

/** The rule of a method that says nothing of itself. */
function ruleOf(method: DescMethod, rule: Partial<MethodRule> = {}): MethodRule {
  return {
    method,
    path: `/${method.parent.typeName}/${method.name}`,
    access: "authenticated",
    permission: "authenticated",
    systemPermission: "",
    permissionPlace: "anywhere",
    feature: "",
    successStatus: 200,
    executionsExempt: false,
    jsonNames: "proto",
    ignoreUnknownFields: false,
    ...defaults,
    ...rule,
  };
}

type HttpRule = MessageInitShape<typeof HttpRuleSchema>;

/** A method of a service made up for a test. Its request has the texts `a`, `b` and `c`. */
function made(service: string, rule: HttpRule, of: { streams?: boolean } = {}): DescMethod {
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

const get = (path: string): HttpRule => ({ pattern: { case: "get", value: path } });

const errors = {
  "400": { $ref: "#/components/responses/InvalidArgument" },
  "401": { $ref: "#/components/responses/Unauthenticated" },
  "403": { $ref: "#/components/responses/PermissionDenied" },
  "404": { $ref: "#/components/responses/NotFound" },
  default: { $ref: "#/components/responses/Unexpected" },
};
const action = "#/components/schemas/idsvc.resources.action.v3alpha";
const json = (schema: JsonValue) => ({ "application/json": { schema } });

describe("an operation", () => {
  const document = documentOf();

  it("creates: a named message as the body, and the status of the rule", () =>
    assert.deepEqual(at(document, "paths", "/resources/v3alpha/targets", "post"), {
      operationId: "ActionService_CreateTarget",
      tags: ["ActionService"],
      summary: "Creates a target",
      description: [
        "Creates a target. It is called only once an execution names it. The response shows, this once, the key that calls to the target are signed with.",
        "Permission: `action.target.write`.",
        "Feature flag: `multitenancy_resources_api`.",
      ].join("\n\n"),
      requestBody: {
        description: "The configuration of the target.",
        required: true,
        content: json({ $ref: `${action}.Target` }),
      },
      responses: {
        "201": {
          description: "The target that was created.",
          content: json({ $ref: `${action}.CreateTargetResponse` }),
        },
        ...errors,
      },
      "x-permission": "action.target.write",
    }));

  it("searches: a bare list as the body, dotted query parameters", () => {
    const operation = at(document, "paths", "/resources/v3alpha/targets/_search", "post");
    assert.deepEqual(at(operation, "requestBody"), {
      description: "All of these must match.",
      required: false,
      content: json({
        type: "array",
        items: { $ref: `${action}.TargetSearchFilter` },
        maxItems: 100,
      }),
    });
    const part = "Which part of the list to return.";
    assert.deepEqual(at(operation, "parameters"), [
      {
        name: "query.offset",
        in: "query",
        description: `How many matching entries to skip.\n\n${part}`,
        schema: { type: "string", format: "uint64" },
      },
      {
        name: "query.limit",
        in: "query",
        description: `How many entries to return at most. 0 stands for the default, which is 100 unless configured otherwise. A limit above the maximum, which is 1000 unless configured otherwise, is an error.\n\n${part}`,
        schema: { type: "integer", format: "uint32", minimum: 0 },
      },
      {
        name: "query.asc",
        in: "query",
        description: `Sort ascending. Lists are sorted descending by default.\n\n${part}`,
        schema: { type: "boolean" },
      },
      {
        name: "sorting_column",
        in: "query",
        description: "The column to sort by. Default: the creation date.",
        schema: { $ref: `${action}.TargetFieldName` },
      },
    ]);
  });

  it("deletes: the id from the path, no body", () => {
    const operation = at(document, "paths", "/resources/v3alpha/executions/{id}", "delete");
    assert.deepEqual(at(operation, "parameters"), [
      {
        name: "id",
        in: "path",
        required: true,
        description: "The ID of the execution, as in the details of each execution.",
        schema: { type: "string", minLength: 1, maxLength: 200 },
      },
    ]);
    assert.equal(at(operation, "requestBody"), undefined);
  });

  it("takes the context of settings as query parameters, of which one is chosen", () => {
    const operation = at(document, "paths", "/settings/v3alpha/features", "get");
    const parameters = Object.values(Object(at(operation, "parameters")));
    assert.deepEqual(
      parameters.map((parameter) => at(parameter, "name")),
      ["ctx.system", "ctx.instance_id", "ctx.instance_domain", "ctx.org_id", "ctx.org_domain"],
    );
    assert.match(
      String(at(parameters[3], "description")),
      /^The organization with this ID\.\n\nOnly one of `ctx\.system`, .*`ctx\.org_domain`\.\n\n.*Default: the instance/,
    );
    assert.match(String(at(operation, "description")), /`system\.feature\.read` for the system/);
  });

  it("without fields is never an invalid argument", () => {
    const operation = at(document, "paths", "/resources/v3alpha/executions/functions", "get");
    assert.deepEqual(Object.keys(Object(at(operation, "responses"))), [
      "200",
      "401",
      "403",
      "404",
      "default",
    ]);
  });

  it("that is public needs no token", () => {
    const method = made("a.Service", get("/x"));
    const document = documentOf([ruleOf(method, { access: "public", permission: "public" })]);
    const operation = at(document, "paths", "/x", "get");
    assert.deepEqual(at(operation, "security"), []);
    assert.equal(at(operation, "x-permission"), "public");
    assert.deepEqual(Object.keys(Object(at(operation, "responses"))), [
      "200",
      "400",
      "404",
      "default",
    ]);
  });

  it("that streams answers with one JSON object a line", () => {
    const document = documentOf([ruleOf(made("a.Service", get("/x"), { streams: true }))]);
    const content = at(document, "paths", "/x", "get", "responses", "200", "content");
    assert.deepEqual(Object.keys(Object(content)), ["application/x-ndjson"]);
  });
});

describe("a binding", () => {
  const hooks = ["PatchHook", "GetHook", "DeleteHook", "GetRevision"].map((name) =>
    ruleOf(methodNamed("HookService", name)),
  );
  const document = documentOf(hooks);
  const namesIn = (operation: unknown, place: string) =>
    Object.values(Object(at(operation, "parameters")))
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
      json({ $ref: "#/components/schemas/test.transcode.Hook" }),
    ));
  it("types path variables", () => {
    const operation = at(document, "paths", "/revisions/{revision}/{kind}", "get");
    assert.deepEqual(
      Object.values(Object(at(operation, "parameters"))).map((one) => at(one, "schema")),
      [{ type: "string", format: "int64" }, { $ref: "#/components/schemas/test.transcode.Kind" }],
    );
  });
  it("takes from the query what one parameter can hold, through messages, never in circles", () =>
    assert.deepEqual(namesIn(at(document, "paths", "/hooks/{hook_id}", "delete"), "query"), [
      ...["ctx.system", "ctx.org_id", "ctx.instance_id", "tags", "kinds", "kind", "since"],
      ...["within", "mask", "verbose", "after"],
      ...["hook_like.name", "hook_like.rest_webhook.url", "hook_like.rest_request_response.url"],
      ...["timeout", "kind", "tags", "sequence", "balance", "rank", "weight", "ratio", "token"].map(
        (name) => `hook_like.${name}`,
      ),
      ...["is_async", "note", "changed", "retries", "kinds", "mask"].map(
        (name) => `hook_like.${name}`,
      ),
      ...["ratio", "token", "tree.leaf"],
    ]));
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

describe("the document", () => {
  const document = documentOf();

  it("is OpenAPI 3.1 of the alpha API", () => {
    assert.equal(at(document, "openapi"), "3.1.0");
    assert.equal(at(document, "info", "title"), "idsvc");
    assert.equal(at(document, "info", "version"), "3.0-alpha");
    assert.match(String(at(document, "info", "description")), /release 1\.2\.3/);
    assert.deepEqual(at(document, "servers"), [{ url: issuer }]);
  });
  it("asks for an OAuth token by the code flow, or a token that is there already", () => {
    const audience = "urn:idsvc:iam:org:project:id:idsvc:aud";
    assert.deepEqual(at(document, "security"), [{ oauth2: ["openid", audience] }, { bearer: [] }]);
    const schemes = at(document, "components", "securitySchemes");
    const flow = at(schemes, "oauth2", "flows", "authorizationCode");
    assert.equal(at(flow, "authorizationUrl"), `${issuer}/oauth/v2/authorize`);
    assert.equal(at(flow, "tokenUrl"), `${issuer}/oauth/v2/token`);
    assert.deepEqual(Object.keys(Object(at(flow, "scopes"))), ["openid", audience]);
    assert.equal(at(schemes, "bearer", "scheme"), "bearer");
  });
  it("describes every service", () =>
    assert.deepEqual(
      Object.values(Object(at(document, "tags"))).map((tag) => at(tag, "name")),
      ["ActionService", "FeatureService"],
    ));
  it("tells services of one short name apart", () => {
    const both = [made("one.S", get("/one")), made("two.S", get("/two"))];
    const document = documentOf(both.map((method) => ruleOf(method)));
    assert.equal(at(document, "paths", "/one", "get", "operationId"), "one.S_Do");
    assert.equal(at(document, "paths", "/two", "get", "operationId"), "two.S_Do");
  });
  it("has the error body of service.md section 7", () => {
    const error = at(document, "components", "schemas", "Error");
    assert.deepEqual(at(error, "required"), ["code", "message", "details"]);
    const detail = at(error, "properties", "details", "items");
    assert.deepEqual(at(detail, "required"), ["@type"]);
  });
  it("has every binding and permission of the rules", () => {
    const found = operationsOf(document).map(({ path, httpMethod, operation }) =>
      [at(operation, "operationId"), httpMethod, path, at(operation, "x-permission")].join(" "),
    );
    assert.equal(found.length, rules.length);
    for (const { method, permission } of rules) {
      const id = `${method.parent.name}_${method.name} `;
      const own = found.filter((one) => one.startsWith(id) && one.endsWith(` ${permission}`));
      assert.equal(own.length, 1, id);
    }
  });
  it("is the same in whatever order the rules come", () => {
    const turned = openApiDocument(rules.toReversed(), { issuer, version: "1.2.3" });
    assert.equal(JSON.stringify(turned), JSON.stringify(document));
  });
});

describe("the document of every service there is", () => {
  const document = documentOf(allMethods.map((method) => ruleOf(method)));

  it("is sound", () => assertSound(document));
  it("says something of everything that is ours", () => {
    for (const [name, schema] of entries(at(document, "components", "schemas"))) {
      if (!name.startsWith("idsvc.")) continue;
      assert.ok(at(schema, "description"), name);
      for (const [field, value] of entries(at(schema, "properties"))) {
        assert.ok(at(value, "description"), `${name}.${field}`);
      }
    }
  });
});

async function methodsOfSchema(): Promise<DescMethod[]> {
  const root = new URL("../../../", import.meta.url);
  const names = globSync("gen/idsvc/**/*_service_pb.ts", { cwd: root });
  const modules = await Promise.all(names.sort().map((name) => import(new URL(name, root).href)));
  return modules
    .flatMap((one) => Object.values(one).filter(isService))
    .flatMap((one) => one.methods);
}

function isService(value: unknown): value is DescService {
  return at(value, "kind") === "service";
}

function assertSound(document: unknown): void {
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => at(operation, "operationId"));
  assert.equal(new Set(ids).size, ids.length, "operation ids are unique");
  const tags = Object.values(Object(at(document, "tags"))).map((tag) => at(tag, "name"));

  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    const parameters: unknown[] = Object.values(Object(at(operation, "parameters")));
    const keys = parameters.map((one) => `${at(one, "in")} ${at(one, "name")}`);
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
    for (const tag of Object.values(Object(at(operation, "tags")))) assert.ok(tags.includes(tag));
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
