import type { DescField, DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { samples } from "../../api/samples.ts";
import type { World as SampleWorld } from "../../api/samples/sample.ts";
import { pathOf } from "../../support/protocols.ts";
import { known } from "./action.ts";
import type { Random } from "./random.ts";
import { type Drawn, drawField, drawText, isNamedKind, kindsOf, shareOf } from "./vocabulary.ts";
import type { World } from "./world.ts";

/** Bodies that are right, by the path of their method: `<<kind>>` stands where something of a kind is named. */
export type Shapes = ReadonlyMap<string, readonly JsonObject[]>;

const blank = (kind: string): string => `<<${kind}>>`;
const blanks = /<<([^<>]+)>>/g;

// What the samples of these need cannot be had without a service; or they wait for what has happened.
export const withoutSample =
  /\.(?:GetIdentityProviderIntent|StartIdentityProviderIntent|RedeliverDelivery|\w+IDPAuthenticator|VerifyWebAuthNRegistration|TestSMTPProvider)$/;

/** Of which kind is what stands below a path of the resources. */
export const kindOfPath = (path: string): string => {
  const [, first = ""] = /^\/([a-z_]+)/.exec(path) ?? [];
  if (first === "project_roles") return "role_object";
  if (first === "domains") return "domain_object";
  if (first === "smtp_providers" || first === "sms_providers")
    return first.replace("_providers", "provider");
  return first.replace(/s$/, "");
};

/** An answer of which each part is a blank, named by what an answer calls it. */
function blankAnswer(kind: string, id: string): unknown {
  const said = () => blank(kind);
  return new Proxy(Object.create(null) as object, {
    get(_, part) {
      if (part === Symbol.toPrimitive || part === "toString" || part === "toJSON") return said;
      // An answer is awaited, and must not look like a promise.
      if (typeof part === "symbol" || part === "then") return undefined;
      return blankAnswer(part === "id" ? id : part, id);
    },
  });
}

const mostMade = 30;

/** A world for samples in which everything that is made is a blank. */
function blankWorld(): SampleWorld {
  let made = 0;
  const create = async (path: string) => {
    if (++made > mostMade) throw new Error("the sample waits for something");
    const kind = kindOfPath(path);
    return blankAnswer(kind, kind) as JsonObject;
  };
  const make = async (path: string) => {
    await create(path);
    return blank(kindOfPath(path));
  };
  return {
    instanceId: blank("instance"),
    organizationId: blank("organization"),
    projectId: blank("project"),
    userId: blank("user"),
    targetId: blank("target"),
    texts: new Map(),
    newTarget: async () => blank("target"),
    setExecution: async () => blank("execution"),
    create,
    make,
    createAs: (_, path) => create(path),
    put: create,
    act: async (path) => void (await create(path)),
    open: async () => "/",
    bring: async () => blank("import"),
    consent: async () => blank("consent"),
    name: () => blank("name"),
  };
}

const turns = [0, 1];

/** The bodies of the samples of all methods that have one. */
export async function shapesOf(methods: Iterable<DescMethod>): Promise<Shapes> {
  const shapes = new Map<string, JsonObject[]>();
  for (const method of methods) {
    const path = pathOf(method);
    const sample = samples[path];
    if (sample === undefined || withoutSample.test(`.${method.name}`)) continue;
    const own: JsonObject[] = [];
    for (const turn of turns) {
      try {
        const valid: unknown = JSON.parse(JSON.stringify(await sample.valid(blankWorld(), turn)));
        own.push(Object(valid) as JsonObject);
      } catch {
        // It needs answers that are real.
      }
    }
    shapes.set(path, own);
  }
  return shapes;
}

/** A body of this shape, with words that the attacker knows in its blanks, and now and then more than it has. */
export function drawShaped(
  random: Random,
  world: World,
  { type, shape }: { type: DescMessage; shape: JsonObject },
  by: Drawn,
): JsonObject {
  const made: JsonObject = {};
  for (const field of type.fields) {
    const { [field.name]: given } = shape;
    const value =
      given === undefined
        ? addition(random, world, field, by)
        : filled(random, world, { field, given }, by);
    if (value !== undefined) made[field.name] = value;
  }
  return made;
}

const deeper = (by: Drawn): Drawn => ({ ...by, depth: by.depth + 1 });

/** A field that the sample has no need for. */
function addition(
  random: Random,
  world: World,
  field: DescField,
  by: Drawn,
): JsonValue | undefined {
  if (field.oneof !== undefined) return undefined;
  const share = field.name === "ctx" ? 0.9 : shareOf(field, by.depth) * 0.25;
  return random.chance(share) ? drawField(random, world, field, by) : undefined;
}

function filled(
  random: Random,
  world: World,
  { field, given }: { field: DescField; given: JsonValue },
  by: Drawn,
): JsonValue | undefined {
  if (
    field.fieldKind === "message" &&
    isObject(given) &&
    !field.message.typeName.startsWith("google.")
  ) {
    return drawShaped(random, world, { type: field.message, shape: given }, deeper(by));
  }
  return replaced(random, world, { name: field.name, given }, by);
}

const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

function replaced(
  random: Random,
  world: World,
  { name, given }: { name: string; given: JsonValue },
  by: Drawn,
): JsonValue | undefined {
  if (typeof given === "boolean") return random.chance(0.2) ? !given : given;
  if (Array.isArray(given)) {
    return given
      .map((each) => replaced(random, world, { name, given: each }, by))
      .filter((each) => each !== undefined);
  }
  if (isObject(given)) {
    const members = Object.entries(given).map(
      ([key, each]) => [key, replaced(random, world, { name: key, given: each }, by)] as const,
    );
    return Object.fromEntries(members.filter(([, each]) => each !== undefined)) as JsonObject;
  }
  if (typeof given !== "string") return given;
  if (!given.includes("<<")) {
    return isNamedKind(name) && random.chance(0.4)
      ? (drawText(random, world, name, by) ?? given)
      : given;
  }
  let isWhole = true;
  const text = given.replaceAll(blanks, (_, kind: string) => {
    const word = wordFor(random, world, kind, { ...by, name });
    isWhole &&= word !== undefined;
    return word ?? "";
  });
  return isWhole ? text : undefined;
}

function wordFor(
  random: Random,
  world: World,
  kind: string,
  by: Drawn & { name: string },
): string | undefined {
  if (kind === "name") return `n${random.below(1e9)}`;
  if (kind === "user" && by.subject !== undefined && random.chance(0.35)) return by.subject;
  // Now and then something that it is not meant for.
  if (random.chance(0.03)) return drawText(random, world, by.name, by);
  const own = by.name === "id" ? by.resource : kind;
  return known(random, world, ...(kindsOf[own] ?? [own]));
}
