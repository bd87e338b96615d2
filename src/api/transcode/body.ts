import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { http } from "#gen/google/api/annotations_pb.ts";
import type { HttpRule } from "#gen/google/api/http_pb.ts";
import { type DomainError, internal, invalidArgument } from "../../errors.ts";
import { isObject, readMessage } from "./json.ts";
import {
  emptyObject,
  type FieldPath,
  isParameter,
  placePathVariables,
  placeQuery,
  type Placement,
  printFieldPath,
  resolveFieldPath,
} from "./parameters.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";
import { parseStrictJson } from "./strict-json.ts";
import { unsupportedMediaType } from "../refusals.ts";

/** One way to call a method over HTTP, proven to fit the messages of the method. */
export type Binding = Placement & {
  httpMethod: string;
  template: PathTemplate;
  /** The field of the response that is the answer's body; undefined when all of it is. */
  responseBody: DescField | undefined;
  /** Whether every variable of the path is a text, and a field of the request itself. */
  hasTextsOnly: boolean;
};

/** A REST request whose path led to `binding`. */
export type RestRequest = {
  method: DescMethod;
  binding: Binding;
  variables: readonly (readonly [fieldPath: string, text: string])[];
  query: string;
  body: Uint8Array;
  contentType: string | undefined;
  ignoreUnknownFields: boolean;
  registry?: Registry | undefined;
};

const bindings = new Map<DescMethod, readonly Binding[]>();

/**
 * The ways to call a method over HTTP: `google.api.http` and its additional bindings, checked against the messages. They are
 * read once, as a start asks three times for those of each method.
 * @throws INVALID_HTTP_RULE, INVALID_PATH_TEMPLATE; both are mistakes in the schema and stop the start
 */
export function restBindings(method: DescMethod): readonly Binding[] {
  let known = bindings.get(method);
  if (known === undefined) bindings.set(method, (known = readBindings(method)));
  return known;
}

function readBindings(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((one) => toBinding(method, rule, one));
}

/**
 * Makes the request message of a REST call: one JSON object of the body, the query and the path, read once.
 *
 * The path wins over the body; the query may set only what neither of them does. A field that is the body and not sent
 * is absent.
 * @throws UNSUPPORTED_MEDIA_TYPE (415), UNEXPECTED_BODY, MALFORMED_JSON and the reasons of `placeQuery`,
 *   `placePathVariables` and `readMessage`
 */
export function bindRequest(request: RestRequest): Message {
  const { method, binding, ignoreUnknownFields, registry } = request;
  if (binding.hasTextsOnly && request.body.length === 0 && request.query === "") {
    return ofTexts(method.input, request);
  }
  const json = readBody(request);
  // Where all of the request is the body and is not an object, the reader below says so.
  if (isObject(json)) {
    placeQuery(json, method.input, request.query, binding);
    placePathVariables(json, binding, request.variables);
  }
  return readMessage(method.input, json, { ignoreUnknownFields, registry });
}

// What most calls are, a GET by id: the texts of the path are the fields, and there is nothing else to read.
function ofTexts(input: DescMessage, { binding, variables }: RestRequest): Message {
  const message = create(input);
  for (const [name, text] of variables) {
    const field = binding.variables.get(name)?.[0];
    if (field !== undefined) Reflect.set(message, field.localName, text);
  }
  return message;
}

const isText = (path: FieldPath): boolean => {
  const [field] = path;
  return (
    path.length === 1 &&
    field?.fieldKind === "scalar" &&
    field.scalar === ScalarType.STRING &&
    field.oneof === undefined
  );
};

function readBody({ binding, body, contentType }: RestRequest): JsonValue {
  if (body.length === 0) return emptyObject();
  if (binding.body === "none") {
    // Many clients send one whatever the method takes (A4).
    if (Buffer.from(body).toString("latin1").trim() === "{}") return emptyObject();
    const message = "this method takes no body but {}; send its fields in the query";
    throw invalidArgument("UNEXPECTED_BODY", message);
  }
  checkMediaType(contentType);
  const json = parseStrictJson(body);
  if (binding.body === "all") return json;
  const root: JsonObject = emptyObject();
  root[binding.body.name] = json;
  return root;
}

const jsonMediaType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

function checkMediaType(contentType: string | undefined): void {
  if (contentType === "application/json" || jsonMediaType.test(contentType ?? "")) return;
  throw unsupportedMediaType(
    "send the body as JSON in UTF-8, with the header content-type: application/json",
  );
}

function toBinding(method: DescMethod, top: HttpRule, rule: HttpRule): Binding {
  const refuse = (problem: string): DomainError =>
    internal("INVALID_HTTP_RULE", `${method.parent.typeName}.${method.name}: ${problem}`);
  const fieldOf = (message: DescMessage, name: string): DescField => {
    const field = message.fields.find((one) => one.name === name);
    if (!field) throw refuse(`${message.name} has no field ${name} to be the body`);
    return field;
  };

  if (rule !== top && rule.additionalBindings.length > 0) {
    throw refuse("an additional binding has additional bindings");
  }
  const [httpMethod, path] = methodAndPath(rule);
  if (!/^[A-Z]+$/.test(httpMethod)) throw refuse("the rule names no HTTP method");
  if (httpMethod === "GET" && rule.body !== "") throw refuse("GET takes no body");
  const template = parsePathTemplate(path);
  const variables = new Map<string, FieldPath>();
  for (const { fieldPath } of template.variables) {
    const fields = resolveFieldPath(method.input, fieldPath);
    const field = fields?.at(-1);
    if (!fields || !field || printFieldPath(fields) !== fieldPath) {
      throw refuse(`the path names ${fieldPath}, which is no field of ${method.input.name}`);
    }
    if (!isParameter(field) || field.fieldKind === "list") {
      throw refuse(`the path variable ${fieldPath} is a list, a map or a message`);
    }
    variables.set(fieldPath, fields);
  }
  return {
    httpMethod,
    template,
    variables,
    hasTextsOnly: [...variables.values()].every(isText),
    body: rule.body === "*" ? "all" : rule.body === "" ? "none" : fieldOf(method.input, rule.body),
    responseBody: rule.responseBody === "" ? undefined : fieldOf(method.output, rule.responseBody),
  };
}

function methodAndPath({ pattern }: HttpRule): [httpMethod: string, path: string] {
  switch (pattern.case) {
    case undefined:
      return ["", ""];
    case "custom":
      return [pattern.value.kind, pattern.value.path];
    default:
      return [pattern.case.toUpperCase(), pattern.value];
  }
}
