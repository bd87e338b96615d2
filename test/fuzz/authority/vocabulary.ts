import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { known } from "./action.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

const deepest = 4;

/** The resource that a service is about, as the attacker sorts ids. */
export const resourceOf = (service: string): string =>
  service
    .slice(service.lastIndexOf(".") + 1)
    .replace(/Service$/, "")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase()
    .replace(/^identity_provider$/, "idp")
    .replace(/^domain$/, "domain_object");

/** Of which kinds a field's text may be; where none is known, it is looked for by its own name. */
const kindsOf: Readonly<Record<string, readonly string[]>> = {
  user_id: ["user"],
  creator_id: ["user"],
  org_id: ["organization"],
  organization_id: ["organization"],
  organization_ids: ["organization"],
  granted_organization_id: ["organization"],
  project_id: ["project"],
  project_ids: ["project"],
  project_grant_id: ["project_grant"],
  grant_id: ["project_grant"],
  instance_id: ["instance"],
  app_id: ["app"],
  client_id: ["client"],
  idp_id: ["idp"],
  session_id: ["session"],
  session_token: ["bearer"],
  verification_code: ["code"],
  code: ["code"],
  password: ["password"],
  current_password: ["password"],
  login_name: ["login_name", "mail"],
  username: ["login_name", "mail", "word"],
  address: ["mail"],
  email: ["mail"],
  roles: ["role"],
  role: ["role"],
  role_keys: ["role_key"],
  redirect_uris: ["uri"],
  post_logout_redirect_uris: ["uri"],
  additional_origins: ["uri"],
  success_url: ["uri"],
  failure_url: ["uri"],
  url: ["uri"],
  domain: ["domain"],
  org_domain: ["domain"],
  keep_holds: ["hold"],
};

const usual: Readonly<Record<string, readonly string[]>> = {
  permissions: ["*", "user.write", "user.read", "user.self.credential", "org.write", "iam.read"],
  schema_id: ["human", "machine"],
  number: ["+41791234567"],
  url_template: ["https://attacker.test/code"],
  default_language: ["en", "de"],
  language: ["en", "de"],
  first_name: ["A"],
  last_name: ["B"],
  ip: ["127.0.0.1"],
  second_factors: ["totp", "u2f"],
  clear: ["redirect_uris"],
  key: ["key", "reader"],
  content: ["text"],
};
const names = ["a", "b", "name", "an attacker's", "idsvc"];

/** A message as its schema has it, of words that the attacker knows. */
export function drawMessage(
  random: Random,
  world: World,
  type: DescMessage,
  by: { service: string; depth?: number },
): JsonObject {
  const { service, depth = 0 } = by;
  const made: JsonObject = {};
  const chosen = new Map<string, string>();
  for (const { oneof, name } of type.fields) {
    if (oneof === undefined) continue;
    const all = oneof.fields.map((each) => each.name);
    if (!chosen.has(oneof.name)) chosen.set(oneof.name, random.one(all) ?? name);
  }
  for (const field of type.fields) {
    const { name, oneof } = field;
    if (oneof !== undefined && chosen.get(oneof.name) !== name) continue;
    if (!random.chance(shareOf(field, depth))) continue;
    const value = drawField(random, world, field, { service, depth });
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** How often a field is given. Ids of what is to be made are rarely chosen, what a request is about nearly always. */
function shareOf(of: DescField, depth: number): number {
  const { name, oneof } = of;
  if (getOption(of, fieldRules).required) return 0.99;
  if (name === "id" || name.endsWith("_id") || name === "ctx") {
    return name === "user_id" && depth > 0 ? 0.6 : 0.97;
  }
  if (["sorting_column", "query", "filters", "header", "metadata"].includes(name)) return 0.05;
  if (["dry_run", "session_token", "keep_holds"].includes(name)) return 0.15;
  if (oneof !== undefined) return 0.95;
  return depth === 0 ? 0.9 : 0.6;
}

function drawField(
  random: Random,
  world: World,
  field: DescField,
  by: { service: string; depth: number },
): JsonValue | undefined {
  const { name } = field;
  switch (field.fieldKind) {
    case "scalar":
      return drawScalar(random, world, field.scalar, name, by);
    case "enum":
      return random.one(field.enum.values.filter(({ number }) => number > 0))?.name;
    case "message":
      return drawInner(random, world, field.message, by);
    case "list": {
      const one = () =>
        field.listKind === "message"
          ? drawInner(random, world, field.message, by)
          : field.listKind === "enum"
            ? random.one(field.enum.values.filter(({ number }) => number > 0))?.name
            : drawScalar(random, world, field.scalar, name, by);
      const all = [one(), ...(random.chance(0.3) ? [one()] : [])];
      return [...new Set(all.filter((each) => each !== undefined))];
    }
    case "map":
      return {};
  }
}

function drawInner(
  random: Random,
  world: World,
  type: DescMessage,
  { service, depth }: { service: string; depth: number },
): JsonValue | undefined {
  switch (type.typeName) {
    case "google.protobuf.Struct":
      return service.includes("user") ? { given_name: "A", family_name: "B" } : {};
    case "google.protobuf.Timestamp":
      return new Date(world.service.now().getTime() + 86_400_000).toISOString();
    case "idsvc.object.v3alpha.RequestContext":
      return drawContext(random, world);
    case "google.protobuf.Duration":
      return random.one(["1s", "3600s", "86400s", "864000s"]);
    default:
      return depth >= deepest
        ? undefined
        : drawMessage(random, world, type, { service, depth: depth + 1 });
  }
}

/** Mostly an organization, as most callers may do something in one alone. */
function drawContext(random: Random, world: World): JsonObject {
  const drawn = random.next();
  if (drawn < 0.05) return { system: true };
  if (drawn < 0.25) return { instance_id: known(random, world, "instance") ?? "" };
  return { org_id: known(random, world, "organization") ?? "" };
}

function drawScalar(
  random: Random,
  world: World,
  scalar: ScalarType,
  name: string,
  { service, depth }: { service: string; depth: number },
): JsonValue | undefined {
  switch (scalar) {
    case ScalarType.BOOL:
      return random.chance(0.6);
    case ScalarType.BYTES:
      return "YQ==";
    case ScalarType.STRING:
      return drawText(random, world, name, { service, depth });
    default:
      return random.one([0, 1, 2, 8, 100]);
  }
}

function drawText(
  random: Random,
  world: World,
  name: string,
  { service, depth }: { service: string; depth: number },
): string | undefined {
  // The id of somebody who is to be made: chosen by whoever makes them.
  if (name === "user_id" && depth === 1 && service.endsWith("UserService")) {
    return random.chance(0.3) ? known(random, world, "word", "client", "user") : undefined;
  }
  if (random.chance(0.02)) return known(random, world, "word", ...anything);
  const isUrl = /(?:^|_)(?:url|uri|issuer|endpoint)$/.test(name);
  const kinds =
    name === "id"
      ? [resourceOf(service)]
      : (kindsOf[name] ?? (isUrl ? ["url", "uri"] : name.includes("address") ? ["mail"] : [name]));
  const found = known(random, world, ...kinds);
  if (found !== undefined) return found;
  return random.one(usual[name] ?? names);
}
const anything = ["user", "client", "organization", "project", "bearer", "code", "session"];

/** How often a method is called: those that write, and that give holds, more than those that only read. */
export function weightOf(method: DescMethod, givesHold: boolean): number {
  if (/^(Get|Search|List|Resolve|Preview|Match|Report|Export)/.test(method.name)) return 1;
  if (/^(Delete|Remove|Deactivate|Lock|Decline|Import|Pause|Cancel)/.test(method.name)) return 1;
  return givesHold ? 5 : 3;
}
