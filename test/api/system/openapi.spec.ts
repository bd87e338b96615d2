// Run: shared
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { describe, it } from "node:test";
import type { DescMethod, DescService, JsonValue } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { methodRule } from "../../../src/api/method-rule.ts";
import { openApiDocument } from "../../../src/api/system/openapi.ts";
import {
  assertSound,
  at,
  defaults,
  documentOf,
  elements,
  entries,
  get,
  issuer,
  made,
  operationsOf,
  ruleOf,
} from "./openapi-document.ts";

const rules = [...ActionService.methods, ...FeatureService.methods].map((method) =>
  methodRule(method, defaults),
);
const allMethods = await methodsOfSchema();

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
  const document = documentOf(rules);

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
        name: "query.after",
        in: "query",
        description: `Returns what follows the page whose \`ListDetails.next\` this is, however far into the list that was: entries that were added or removed before it meanwhile move nothing. It belongs to the same search (filters, order, direction, context, object); with another one, or if it is none of ours, it is refused. It is not combined with \`offset\`.\n\n${part}`,
        schema: { type: "string", maxLength: 512 },
      },
      {
        name: "query.skip_total",
        in: "query",
        description: `Does not count the matching entries: \`total_result\` is 0. Counting takes time in proportion to what matches.\n\n${part}`,
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
      {
        name: "expected_sequence",
        in: "query",
        description: String(at(operation, "parameters", "1", "description")),
        schema: { type: "string", format: "uint64" },
      },
      {
        name: "If-Match",
        in: "header",
        description:
          "The same as `expected_sequence`: the sequence in quotes, or `*` for the object whatever its sequence.",
        schema: { type: "string" },
        example: '"42"',
      },
    ]);
    assert.equal(at(operation, "requestBody"), undefined);
  });

  it("takes the context of settings as query parameters, of which one is chosen", () => {
    const operation = at(document, "paths", "/settings/v3alpha/features", "get");
    const parameters = elements(at(operation, "parameters"));
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
    const own = documentOf([ruleOf(method, { access: "public", permission: "public" })]);
    const operation = at(own, "paths", "/x", "get");
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
    const own = documentOf([ruleOf(made("a.Service", get("/x"), { streams: true }))]);
    const content = at(own, "paths", "/x", "get", "responses", "200", "content");
    assert.deepEqual(Object.keys(Object(content)), ["application/x-ndjson"]);
  });
});

describe("the document", () => {
  const document = documentOf(rules);

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
      elements(at(document, "tags")).map((tag) => at(tag, "name")),
      ["ActionService", "FeatureService"],
    ));
  it("tells services of one short name apart", () => {
    const both = [made("one.S", get("/one")), made("two.S", get("/two"))];
    const own = documentOf(both.map((method) => ruleOf(method)));
    assert.equal(at(own, "paths", "/one", "get", "operationId"), "one.S_Do");
    assert.equal(at(own, "paths", "/two", "get", "operationId"), "two.S_Do");
  });
  it("has the error body of specification 7", () => {
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
  it("has the sequence and If-Match as parameters of all that changes or removes an object", () => {
    for (const { path, httpMethod, operation } of operationsOf(document)) {
      if (!["patch", "put", "delete"].includes(httpMethod)) continue;
      const names = elements(at(operation, "parameters")).map((one) => at(one, "name"));
      assert.deepEqual(names.slice(-2), ["expected_sequence", "If-Match"], path);
    }
  });
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
