import type { DescField, DescMessage, DescService, JsonObject } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import type { MethodRule } from "../method-rule.ts";
import { type Binding, restBindings } from "../transcode/body.ts";
import { takesSequence } from "../expected-sequence.ts";
import { isParameter, printFieldPath } from "../transcode/parameters.ts";
import type { Segment } from "../transcode/path-template.ts";
import { commentOf } from "./comments.ts";
import {
  createSchemaBook,
  describeField,
  described,
  isRequired,
  type JsonNames,
  paragraphs,
  type SchemaBook,
  spell,
} from "./openapi-schema.ts";

const apiVersion = "3.0-alpha";
const audienceScope = "urn:idsvc:iam:org:project:id:idsvc:aud";
const httpMethods: ReadonlySet<string> = new Set(
  "GET PUT POST DELETE OPTIONS HEAD PATCH TRACE".split(" "),
);

/**
 * The OpenAPI 3.1 document of all REST paths; equal rules give an equal document, in whatever order they come.
 *
 * Source: specification 5 and specification 7; A4, A5, A10.
 * @param issuer where the service is reached, without a slash at the end
 * @param version the release that serves the document; `info.version` is the version of the API
 */
export function openApiDocument(
  rules: Iterable<MethodRule>,
  { issuer, version }: { issuer: string; version: string },
): JsonObject {
  const sorted = [...rules].sort(byNamesThenPath);
  const titles = serviceTitles(sorted);
  const schemas = createSchemaBook();
  return {
    openapi: "3.1.0",
    info: {
      title: "idsvc",
      version: apiVersion,
      description: `The REST form of the idsvc APIs, as served by release ${version}. Every operation is a gRPC method too.`,
    },
    servers: [{ url: issuer }],
    security: [{ oauth2: ["openid", audienceScope] }, { bearer: [] }],
    tags: [...titles]
      .map(([{ typeName }, name]) => ({ name, ...described(commentOf(typeName)) }))
      .sort((a, b) => compare(a.name, b.name)),
    paths: pathsOf(sorted, titles, schemas),
    components: {
      schemas: { ...schemas.components(), Error: errorSchema },
      responses: errorResponses,
      securitySchemes: securitySchemes(issuer),
    },
  };
}

// The spelling of the schema first, so that it has the plain names in the book of schemas.
function byNamesThenPath(a: MethodRule, b: MethodRule): number {
  return -compare(a.jsonNames, b.jsonNames) || compare(a.path, b.path);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What services are called in tags and operation ids: their short name, or all of it where two share the short one. */
function serviceTitles(rules: readonly MethodRule[]): ReadonlyMap<DescService, string> {
  const services = new Set(rules.map(({ method }) => method.parent));
  const shared = (name: string) => [...services].filter((one) => one.name === name).length > 1;
  return new Map(
    [...services].map((one) => [one, shared(one.name) ? one.typeName : one.name] as const),
  );
}

function pathsOf(
  rules: readonly MethodRule[],
  titles: ReadonlyMap<DescService, string>,
  schemas: SchemaBook,
): JsonObject {
  const paths = new Map<string, JsonObject>();
  const parameterNames = new Map<string, string[]>();
  for (const rule of rules) {
    const tag = titles.get(rule.method.parent) ?? rule.method.parent.name;
    for (const [index, binding] of restBindings(rule.method).entries()) {
      if (!httpMethods.has(binding.httpMethod)) continue;
      const holes = pathHoles(binding, rule.jsonNames);
      // Two paths that differ only in the names of their parameters are one path to OpenAPI.
      const shape = printPath(binding, []);
      const names = parameterNames.get(shape) ?? holes.map(({ name }) => name);
      parameterNames.set(shape, names);
      const operation = {
        operationId: `${tag}_${rule.method.name}${index === 0 ? "" : `_${index + 1}`}`,
        tags: [tag],
        ...summaryOf(rule),
        ...listed("parameters", [
          ...holes.map(({ field }, at) => pathParameter(names[at] ?? "", field, rule, schemas)),
          ...queryParameters(rule, binding, schemas),
          ...(takesSequence(rule.method) ? [ifMatch] : []),
        ]),
        ...requestBody(rule, binding, schemas),
        responses: responses(rule, binding, schemas),
        ...(rule.access === "public" ? { security: [] } : {}),
        "x-permission": rule.permission,
      };
      const path = printPath(binding, names);
      paths.set(path, { ...paths.get(path), [binding.httpMethod.toLowerCase()]: operation });
    }
  }
  return Object.fromEntries([...paths].sort(([a], [b]) => compare(a, b)));
}

function summaryOf(rule: MethodRule): JsonObject {
  const { method } = rule;
  const comment = commentOf(`${method.parent.typeName}.${method.name}`);
  const firstClause = /^.+?(?=[.:](?:\s|$))/.exec(comment)?.[0];
  return {
    summary: firstClause ?? method.name,
    description: paragraphs(comment, accessSentence(rule)),
    ...(method.deprecated ? { deprecated: true } : {}),
  };
}

function accessSentence({ access, permission, systemPermission, feature }: MethodRule): string {
  const system = systemPermission === "" ? "" : `, or \`${systemPermission}\` for the system`;
  const who = {
    public: "Permission: none is needed.",
    authenticated: "Permission: `authenticated`, every caller with a valid token.",
    permission: `Permission: \`${permission}\`${system}.`,
  };
  return paragraphs(who[access], feature === "" ? "" : `Feature flag: \`${feature}\`.`);
}

const ifMatch: JsonObject = {
  name: "If-Match",
  in: "header",
  description:
    "The same as `expected_sequence`: the sequence in quotes, or `*` for the object whatever its sequence.",
  schema: { type: "string" },
  example: '"42"',
};

type Hole = { name: string; field: DescField | undefined };

/** What the wildcards of a path fill, from left to right. */
function pathHoles({ template, variables }: Binding, names: JsonNames): Hole[] {
  return template.segments.flatMap((segment, index) => {
    if (!isWildcard(segment)) return [];
    const variable = template.variables.find(({ from, to }) => from <= index && index < to);
    const fields = variable && variables.get(variable.fieldPath);
    if (!variable || !fields) return [{ name: `segment_${index + 1}`, field: undefined }];
    const name = fields.map((field) => spell(field, names)).join(".");
    if (variable.to - variable.from === 1) return [{ name, field: fields.at(-1) }];
    // What a wildcard fills is only a part of the field here.
    const wildcards = template.segments.slice(variable.from, variable.to).filter(isWildcard);
    const number = wildcards.indexOf(segment) + 1;
    return [{ name: wildcards.length === 1 ? name : `${name}.${number}`, field: undefined }];
  });
}

type Literal = Extract<Segment, { kind: "literal" }>;

function isWildcard(segment: Segment): segment is Exclude<Segment, Literal> {
  return segment.kind !== "literal";
}

function printPath({ template }: Binding, names: readonly string[]): string {
  let hole = 0;
  const steps = template.segments.map((segment) =>
    isWildcard(segment) ? `{${names[hole++] ?? ""}}` : segment.text,
  );
  return `/${steps.join("/")}${template.verb === "" ? "" : `:${template.verb}`}`;
}

function pathParameter(
  name: string,
  field: DescField | undefined,
  { jsonNames }: MethodRule,
  schemas: SchemaBook,
): JsonObject {
  return {
    name,
    in: "path",
    required: true,
    ...(field ? described(describeField(field)) : {}),
    schema: field ? schemas.ofField(field, jsonNames) : { type: "string" },
  };
}

function queryParameters(
  { method, jsonNames }: MethodRule,
  binding: Binding,
  schemas: SchemaBook,
): JsonObject[] {
  const spelled = (path: readonly DescField[]) =>
    path.map((field) => spell(field, jsonNames)).join(".");
  return queryPaths(method.input, binding).flatMap((path) => {
    const field = path.at(-1);
    if (field === undefined) return [];
    const siblings = field.oneof?.fields.map(
      (one) => `\`${spelled([...path.slice(0, -1), one])}\``,
    );
    const choice = siblings === undefined ? "" : `Only one of ${siblings.join(", ")}.`;
    return {
      name: spelled(path),
      in: "query",
      ...(path.every(isRequired) ? { required: true } : {}),
      ...described(
        paragraphs(describeField(field), choice, ...path.slice(0, -1).map(describeField)),
      ),
      ...(field.deprecated ? { deprecated: true } : {}),
      schema: schemas.ofField(field, jsonNames),
    };
  });
}

/** The fields that a query can set: neither in the body nor in the path. A message within itself is left out. */
function queryPaths(
  desc: DescMessage,
  binding: Binding,
  way: readonly DescField[] = [],
): (readonly DescField[])[] {
  if (binding.body === "all") return [];
  return desc.fields.flatMap((field) => {
    const path = [...way, field];
    if (binding.body === field || binding.variables.has(printFieldPath(path))) return [];
    if (isParameter(field)) return [path];
    if (field.fieldKind !== "message" || hasCustomJsonRepresentation(field.message)) return [];
    const within = path.some(({ parent }) => parent === field.message);
    return within ? [] : queryPaths(field.message, binding, path);
  });
}

function requestBody(
  { method, jsonNames }: MethodRule,
  { body, variables }: Binding,
  schemas: SchemaBook,
): JsonObject {
  if (body === "none") return {};
  const inPath = new Set(
    [...variables.values()].flatMap((path) => (path.length === 1 ? path : [])),
  );
  const fields = method.input.fields.filter((field) => !inPath.has(field));
  const schema =
    body !== "all"
      ? schemas.ofField(body, jsonNames)
      : inPath.size > 0
        ? schemas.withoutFields(method.input, jsonNames, inPath)
        : schemas.ofMessage(method.input, jsonNames);
  return {
    requestBody: {
      ...(body === "all" ? {} : described(describeField(body))),
      required: body === "all" ? fields.some(isRequired) : isRequired(body),
      content: { "application/json": { schema } },
    },
  };
}

function responses(
  { method, jsonNames, access, successStatus }: MethodRule,
  { responseBody }: Binding,
  schemas: SchemaBook,
): JsonObject {
  const schema = responseBody
    ? schemas.ofField(responseBody, jsonNames)
    : schemas.ofMessage(method.output, jsonNames);
  // A stream is one JSON object a line.
  const mediaType =
    method.methodKind === "server_streaming" ? "application/x-ndjson" : "application/json";
  const refer = (name: keyof typeof errorResponses) => ({ $ref: `#/components/responses/${name}` });
  const guarded = { "401": refer("Unauthenticated"), "403": refer("PermissionDenied") };
  return {
    [successStatus]: {
      description: commentOf(method.output.typeName) || "The call succeeded.",
      content: { [mediaType]: { schema } },
    },
    ...(method.input.fields.length > 0 ? { "400": refer("InvalidArgument") } : {}),
    ...(access === "public" ? {} : guarded),
    "404": refer("NotFound"),
    default: refer("Unexpected"),
  };
}

function listed(name: string, entries: JsonObject[]): JsonObject {
  return entries.length === 0 ? {} : { [name]: entries };
}

const errorSchema = {
  type: "object",
  description: "What every refusal says, whatever its status.",
  required: ["code", "message", "details"],
  properties: {
    code: { type: "integer", format: "int32", description: "The canonical code of gRPC." },
    message: { type: "string", description: "What is wrong, and what would be right." },
    details: {
      type: "array",
      description:
        "Always a `google.rpc.ErrorInfo`, whose `reason` is stable and unique; for invalid arguments also a `google.rpc.BadRequest`, which names the fields.",
      items: {
        type: "object",
        required: ["@type"],
        properties: {
          "@type": { type: "string", examples: ["type.googleapis.com/google.rpc.ErrorInfo"] },
        },
        additionalProperties: true,
      },
    },
  },
};

const errorResponse = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
});

const errorResponses = {
  InvalidArgument: errorResponse("The request is not valid, or the state does not allow it."),
  NotFound: errorResponse("The resource does not exist, or the caller may not read it."),
  PermissionDenied: errorResponse("The caller does not have the permission."),
  Unauthenticated: errorResponse("The request has no valid token."),
  Unexpected: errorResponse("An unexpected error."),
};

function securitySchemes(issuer: string): JsonObject {
  return {
    bearer: {
      type: "http",
      scheme: "bearer",
      description: "A personal access token, or an access token got in any other way.",
    },
    oauth2: {
      type: "oauth2",
      flows: {
        authorizationCode: {
          authorizationUrl: `${issuer}/oauth/v2/authorize`,
          tokenUrl: `${issuer}/oauth/v2/token`,
          scopes: {
            openid: "Sign in with OpenID Connect.",
            [audienceScope]: "Call the APIs of this service with the token.",
          },
        },
      },
    },
  };
}
