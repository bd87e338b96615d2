import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { goModule, kept } from "./go.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Definition = { [key: string]: Json };

/** What YAML may hold as a number where the definition says a string. */
const loose = new Map<string, Definition>([
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", { type: ["string", "integer"] }],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", { type: ["string", "number"] }],
]);

/**
 * Writes a JSON Schema for every kind of Kubernetes, as kubeconform looks for them, of the OpenAPI file of its module. Unknown
 * properties are refused.
 *
 * @returns the location to tell kubeconform
 */
export function kubernetesSchemas(version: string): string {
  const folder = join(kept, `kubernetes-${version}`);
  mkdirSync(folder, { recursive: true });
  const file = join(goModule("k8s.io/kubernetes", version), "api/openapi-spec/swagger.json");
  const { definitions }: { definitions: Record<string, Definition> } = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, each]) => [name, loose.get(name) ?? closed(each)]),
  );
  for (const [name, { "x-kubernetes-group-version-kind": kinds }] of Object.entries(definitions)) {
    if (!Array.isArray(kinds) || kinds.length !== 1) continue;
    const [{ group, version: of, kind }] = kinds as [Record<string, string>];
    const [first = ""] = (group ?? "").split(".");
    const suffix = [first, of].filter((part) => part !== "").join("-");
    const schema = { $ref: `#/definitions/${name}`, definitions: reached(name, strict) };
    writeFileSync(join(folder, `${kind}-${suffix}.json`.toLowerCase()), JSON.stringify(schema));
  }
  return join(folder, "{{ .ResourceKind }}{{ .KindSuffix }}.json");
}

const closed = (each: Definition): Definition =>
  "properties" in each && !("additionalProperties" in each)
    ? { ...each, additionalProperties: false }
    : each;

/** A definition with all that it refers to. */
function reached(name: string, all: Record<string, Definition>, into: Record<string, Json> = {}) {
  const definition = all[name];
  if (definition === undefined || name in into) return into;
  into[name] = definition;
  for (const [, next = ""] of JSON.stringify(definition).matchAll(/"#\/definitions\/([^"]+)"/g))
    reached(next, all, into);
  return into;
}
