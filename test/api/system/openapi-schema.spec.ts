// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  type JsonObject,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import {
  type FieldRulesSchema,
  field as fieldRules,
  FieldRulesSchema as RulesSchema,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { RequestContextSchema } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import {
  ConditionSchema,
  ExecutionSchema,
} from "#gen/idsvc/resources/action/v3alpha/execution_pb.ts";
import { ListDetailsSchema } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { RESTWebhookSchema } from "#gen/idsvc/resources/action/v3alpha/target_pb.ts";
import { createSchemaBook, isRequired } from "../../../src/api/system/openapi-schema.ts";
import { messageNamed } from "../transcode/schema.ts";

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type Rules = MessageInitShape<typeof FieldRulesSchema>;

/** The one field of a message made up for a test; a string unless it says otherwise. */
function fieldWith(rules: Rules, field: Field = {}): DescField {
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldRules, create(RulesSchema, rules));
  const shape = { name: "it", number: 1, type: Type.STRING, label: Label.OPTIONAL };
  const file = create(FileDescriptorProtoSchema, {
    name: "made/up.proto",
    syntax: "proto3",
    package: "made.up",
    messageType: [{ name: "M", field: [{ ...shape, ...field, options }] }],
    enumType: [
      {
        name: "E",
        value: [
          { name: "E_NONE", number: 0 },
          { name: "E_ONE", number: 1 },
        ],
      },
    ],
  });
  const made = createFileRegistry(file, () => undefined).getMessage("made.up.M")?.fields[0];
  assert.ok(made);
  return made;
}

const schemaOf = (rules: Rules, field?: Field): JsonObject =>
  createSchemaBook().ofField(fieldWith(rules, field), "proto");

function componentsOf(desc: DescMessage, names: "proto" | "lowerCamel" = "proto"): JsonObject {
  const book = createSchemaBook();
  book.ofMessage(desc, names);
  return book.components();
}

function property(desc: DescMessage, name: string): unknown {
  const field = desc.fields.find((one) => one.name === name);
  assert.ok(field, name);
  return createSchemaBook().ofField(field, "proto");
}

describe("the schema of a value", () => {
  const hook = messageNamed("Hook");
  const kind = { $ref: "#/components/schemas/test.transcode.Kind" };
  const call = { $ref: "#/components/schemas/test.transcode.RestCall" };
  const schemas: Record<string, JsonObject> = {
    name: { type: "string" },
    is_async: { type: "boolean" },
    sequence: { type: "string", format: "uint64" },
    balance: { type: "string", format: "int64" },
    rank: { type: "integer", format: "int32" },
    weight: { type: "number", format: "float" },
    ratio: { type: "number", format: "double" },
    token: { type: "string", contentEncoding: "base64" },
    retries: { type: "integer", format: "uint32", minimum: 0 },
    changed: { type: "string", format: "date-time" },
    mask: { type: "string", examples: ["name,timeout"] },
    extra: { type: "object", additionalProperties: true },
    any_value: {},
    detail: {
      type: "object",
      required: ["@type"],
      properties: { "@type": { type: "string" } },
      additionalProperties: true,
    },
    kind,
    kinds: { type: "array", items: kind },
    tags: { type: "array", items: { type: "string" } },
    rest_webhook: call,
    calls_by_stage: { type: "object", additionalProperties: call },
    notes: { type: "object", additionalProperties: { type: "string" } },
  };
  for (const [name, schema] of Object.entries(schemas)) {
    it(`is that of its JSON: ${name}`, () => assert.deepEqual(property(hook, name), schema));
  }
  it("of a duration matches what the service writes", () => {
    const schema = property(hook, "timeout");
    assert.ok(typeof schema === "object" && schema !== null && "pattern" in schema);
    const pattern = new RegExp(String(schema.pattern), "u");
    for (const text of ["10s", "1.5s", "-0.000000001s"]) assert.match(text, pattern);
    for (const text of ["10", "1m", "PT10S"]) assert.doesNotMatch(text, pattern);
  });
});

describe("rules in a schema", () => {
  it("bound texts", () =>
    assert.deepEqual(
      schemaOf({
        type: { case: "string", value: { minLen: 1n, maxLen: 200n, pattern: "^[a-z]+$" } },
      }),
      { type: "string", minLength: 1, maxLength: 200, pattern: "^[a-z]+$" },
    ));
  it("fix the length of texts", () =>
    assert.deepEqual(schemaOf({ type: { case: "string", value: { len: 2n } } }), {
      type: "string",
      minLength: 2,
      maxLength: 2,
    }));
  it("name formats", () => {
    const email = { case: "email", value: true } as const;
    assert.deepEqual(schemaOf({ type: { case: "string", value: { wellKnown: email } } }), {
      type: "string",
      format: "email",
    });
    assert.deepEqual(property(RESTWebhookSchema, "url"), {
      type: "string",
      minLength: 1,
      maxLength: 1000,
      format: "uri",
    });
  });
  it("list the values allowed and refused", () =>
    assert.deepEqual(schemaOf({ type: { case: "string", value: { in: ["a"], notIn: ["b"] } } }), {
      type: "string",
      enum: ["a"],
      not: { enum: ["b"] },
    }));
  it("fix a value", () => {
    assert.deepEqual(property(RequestContextSchema, "system"), { type: "boolean", const: true });
    assert.deepEqual(schemaOf({ type: { case: "string", value: { const: "" } } }), {
      type: "string",
      const: "",
    });
  });
  it("bound numbers", () =>
    assert.deepEqual(
      schemaOf(
        {
          type: {
            case: "int32",
            value: {
              greaterThan: { case: "gt", value: 0 },
              lessThan: { case: "lte", value: 10 },
            },
          },
        },
        { type: Type.INT32 },
      ),
      { type: "integer", format: "int32", exclusiveMinimum: 0, maximum: 10 },
    ));
  it("say nothing of a range turned inside out, which JSON Schema can not say", () =>
    assert.deepEqual(
      schemaOf(
        {
          type: {
            case: "double",
            value: { greaterThan: { case: "gt", value: 10 }, lessThan: { case: "lt", value: 0 } },
          },
        },
        { type: Type.DOUBLE },
      ),
      { type: "number", format: "double" },
    ));
  it("name the values of enums", () =>
    assert.deepEqual(
      schemaOf(
        { type: { case: "enum", value: { notIn: [0] } } },
        { type: Type.ENUM, typeName: ".made.up.E" },
      ),
      { $ref: "#/components/schemas/made.up.E", not: { enum: ["E_NONE"] } },
    ));
  it("bound lists and what is in them", () => {
    assert.deepEqual(property(ExecutionSchema, "targets"), {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: 200 },
      maxItems: 1000,
    });
    assert.deepEqual(
      schemaOf(
        { type: { case: "repeated", value: { minItems: 1n, unique: true } } },
        { label: Label.REPEATED },
      ),
      { type: "array", items: { type: "string" }, minItems: 1, uniqueItems: true },
    );
  });
  it("are left out where they are ignored", () => {
    const type = { case: "string", value: { minLen: 3n, maxLen: 9n } } as const;
    assert.deepEqual(schemaOf({ ignore: Ignore.ALWAYS, type }), { type: "string" });
    assert.deepEqual(schemaOf({ ignore: Ignore.IF_ZERO_VALUE, type }), {
      type: "string",
      maxLength: 9,
    });
  });
});

describe("a field is required", () => {
  const minLen = { type: { case: "string", value: { minLen: 1n } } } as const;
  it("when its rule says so", () => assert.equal(isRequired(fieldWith({ required: true })), true));
  it("when its empty value is refused", () => {
    assert.equal(isRequired(fieldWith(minLen)), true);
    const minItems = { type: { case: "repeated", value: { minItems: 1n } } } as const;
    assert.equal(isRequired(fieldWith(minItems, { label: Label.REPEATED })), true);
  });
  it("not when the empty value is ignored or absence is seen", () => {
    assert.equal(isRequired(fieldWith({ ...minLen, ignore: Ignore.IF_ZERO_VALUE })), false);
    assert.equal(isRequired(fieldWith({ required: true, ignore: Ignore.ALWAYS })), false);
    const inOneof = ConditionSchema.fields.find((field) => field.name === "function");
    assert.equal(inOneof && isRequired(inOneof), false);
  });
  it("not without a rule", () => assert.equal(isRequired(fieldWith({})), false));
});

describe("the schema of a message", () => {
  it("has comments, required fields and the rules in words", () => {
    const { "idsvc.resources.action.v3alpha.Execution": execution } = componentsOf(ExecutionSchema);
    assert.deepEqual(execution, {
      type: "object",
      description: [
        "Calls targets when its condition comes true. For each condition there is at most one execution. When several conditions hold, only the execution of the most specific one runs.",
        "Rule: at least one of targets and includes must be set.",
      ].join("\n\n"),
      required: ["condition"],
      properties: {
        condition: {
          $ref: "#/components/schemas/idsvc.resources.action.v3alpha.Condition",
          description: "When to run.",
        },
        targets: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 200 },
          maxItems: 1000,
          description: "The IDs of the targets to call, in this order.",
        },
        includes: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 200 },
          maxItems: 1000,
          description:
            "The IDs of other executions whose targets are called after the own ones, in this order. Their conditions must be of the same type as this one.",
        },
      },
    });
  });
  it("says which fields exclude each other", () => {
    const { "idsvc.resources.action.v3alpha.Condition": condition } = componentsOf(ConditionSchema);
    assert.match(
      JSON.stringify(condition),
      /Exactly one of `request`, `response`, `function`, `event`\. Exactly one kind/,
    );
  });
  it("brings what it refers to, in the order of names", () => {
    const names = Object.keys(componentsOf(ConditionSchema));
    assert.deepEqual(names, [
      "idsvc.resources.action.v3alpha.Condition",
      "idsvc.resources.action.v3alpha.EventExecution",
      "idsvc.resources.action.v3alpha.RequestExecution",
      "idsvc.resources.action.v3alpha.ResponseExecution",
    ]);
  });
  it("can refer to itself", () => {
    const { "test.transcode.Tree": tree } = componentsOf(messageNamed("Tree"));
    assert.deepEqual(tree, {
      type: "object",
      properties: {
        left: { $ref: "#/components/schemas/test.transcode.Tree" },
        leaf: { type: "string" },
      },
    });
  });
  it("is spelled as its service spells JSON, and once for each spelling", () => {
    const book = createSchemaBook();
    const name = "idsvc.resources.object.v3alpha.ListDetails";
    const first = book.ofMessage(ListDetailsSchema, "proto");
    const second = book.ofMessage(ListDetailsSchema, "lowerCamel");
    assert.deepEqual(first, { $ref: `#/components/schemas/${name}` });
    assert.deepEqual(second, { $ref: `#/components/schemas/${name}.lowerCamel` });
    const words = JSON.stringify(book.components());
    assert.match(words, /"end_of_list"/);
    assert.match(words, /"endOfList"/);
    const camelOnly = componentsOf(ListDetailsSchema, "lowerCamel");
    assert.deepEqual(Object.keys(camelOnly), [name]);
    assert.doesNotMatch(JSON.stringify(camelOnly), /"end_of_list"/);
  });
});

describe("the schema of an enum", () => {
  it("has the names of its values, each with its comment", () => {
    const components = JSON.stringify(componentsOf(messageNamed("Filter")));
    assert.match(components, /"enum":\["KIND_UNSPECIFIED","KIND_WEBHOOK","KIND_CALL"\]/);
  });
});
