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
import { nameIn } from "./book.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

const deepest = 4;

/** What a draw is for: the method, how deep in its message, and whom the token is for that it is sent with. */
export type Drawn = { resource: string; depth: number; subject?: string | undefined };

/** The resource that a method is about, as the attacker sorts ids. */
export function resourceOf({ parent, name }: DescMethod): string {
  const service = parent.name.replace(/Service$/, "");
  switch (service) {
    case "IdentityProvider": {
      const [, type] = /^(?:Create|Patch|Get)(\w+)IDP$/.exec(name) ?? [];
      return type === undefined ? "idp" : `idp ${type}`;
    }
    case "Domain":
      return "domain_object";
    case "Role":
      return "role_object";
    case "Action":
      return name.includes("Execution") ? "execution" : "target";
    case "Delivery":
      return name === "TestTarget" ? "target" : "delivery";
    case "Management":
      return name.endsWith("Import") ? "import" : "organization";
    default:
      return service.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  }
}

/** Of which kinds a field's text may be; where none is known, it is looked for by its own name. */
export const kindsOf: Readonly<Record<string, readonly string[]>> = {
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
  by: Drawn,
): JsonObject {
  const { depth } = by;
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
    const value = drawField(random, world, field, by);
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** How often a field is given. Ids of what is to be made are rarely chosen, what a request is about nearly always. */
export function shareOf(of: DescField, depth: number): number {
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

export function drawField(
  random: Random,
  world: World,
  field: DescField,
  by: Drawn,
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
  by: Drawn,
): JsonValue | undefined {
  switch (type.typeName) {
    case "google.protobuf.Struct":
      return by.resource.startsWith("user") ? { given_name: "A", family_name: "B" } : {};
    case "google.protobuf.Timestamp":
      return new Date(world.service.now().getTime() + 86_400_000).toISOString();
    case "idsvc.object.v3alpha.RequestContext":
      return drawContext(random, world);
    case "google.protobuf.Duration":
      return random.one(["1s", "3600s", "86400s", "864000s"]);
    default:
      return by.depth >= deepest
        ? undefined
        : drawMessage(random, world, type, { ...by, depth: by.depth + 1 });
  }
}

/** Whether what a field of this name holds is looked for among what is known. */
export const isNamedKind = (name: string): boolean => kindsOf[name] !== undefined;

/** Mostly the organization of the attacker or another one, as most callers may do something in one alone. */
function drawContext(random: Random, world: World): JsonObject {
  const drawn = random.next();
  if (drawn < 0.03) return { system: true };
  if (drawn < 0.5) return { org_id: nameIn("organization alpha") };
  if (drawn < 0.65) return { instance_id: known(random, world, "instance") ?? "" };
  return { org_id: known(random, world, "organization") ?? "" };
}

function drawScalar(
  random: Random,
  world: World,
  scalar: ScalarType,
  name: string,
  by: Drawn,
): JsonValue | undefined {
  switch (scalar) {
    case ScalarType.BOOL:
      return random.chance(0.6);
    case ScalarType.BYTES:
      return "YQ==";
    case ScalarType.STRING:
      return drawText(random, world, name, by);
    default:
      return random.one([0, 1, 2, 8, 100]);
  }
}

export function drawText(
  random: Random,
  world: World,
  name: string,
  { resource, depth, subject }: Drawn,
): string | undefined {
  // The id of somebody who is to be made: chosen by whoever makes them.
  if (name === "user_id" && depth === 1 && resource === "user") {
    return random.chance(0.3) ? known(random, world, "word", "client", "user") : undefined;
  }
  if (random.chance(0.02)) return known(random, world, "word", ...anything);
  const isOfUser = name === "user_id" || (name === "id" && resource === "user");
  if (isOfUser && subject !== undefined && random.chance(0.35)) return subject;
  const isUrl = /(?:^|_)(?:url|uri|issuer|endpoint)$/.test(name);
  const kinds =
    name === "id"
      ? [resource]
      : (kindsOf[name] ?? (isUrl ? ["url", "uri"] : name.includes("address") ? ["mail"] : [name]));
  const found = known(random, world, ...kinds);
  if (found !== undefined) return found;
  // What an attacker has never heard of they cannot name.
  if (name === "id" || name.endsWith("_id")) return undefined;
  return random.one(usual[name] ?? names);
}
const anything = ["user", "client", "organization", "project", "bearer", "code", "session"];

/** How often a method is called: those that write, and that give holds, more than those that only read. */
export function weightOf(method: DescMethod, givesHold: boolean): number {
  if (/^(Get|Search|List|Resolve|Preview|Match|Report|Export)/.test(method.name)) return 1;
  if (/^(Delete|Remove|Deactivate|Lock|Decline|Import|Pause|Cancel)/.test(method.name)) return 1;
  return givesHold ? 5 : 3;
}
