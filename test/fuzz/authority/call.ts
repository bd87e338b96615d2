import { type DescMethod, getOption, type JsonObject } from "@bufbuild/protobuf";
import {
  Holds,
  method as methodOptions,
  type MethodOptions,
} from "#gen/idsvc/options/v1/options_pb.ts";
import { pathOf } from "../../support/protocols.ts";
import { type Action, known, matched, optional, reasonIn, text } from "./action.ts";
import { drawShaped, type Shapes, shapesOf } from "./bodies.ts";
import { nameIn } from "./book.ts";
import type { Random } from "./random.ts";
import { callJson, type Service } from "./service.ts";
import { drawMessage, resourceOf, weightOf } from "./vocabulary.ts";
import type { World } from "./world.ts";

type Methods = {
  byName: ReadonlyMap<string, DescMethod>;
  weighted: readonly (readonly [name: string, weight: number])[];
};
const ofService = new WeakMap<Service, Methods>();

/** The methods of all services. */
export function methodsOf({ service }: Pick<World, "service">): Methods {
  let methods = ofService.get(service);
  if (methods === undefined) {
    const all = service.app.app.endpoints
      .map(({ rule }) => rule)
      .filter(({ path }) => !path.startsWith("/test."))
      .map(({ method }) => method);
    const byName = new Map(all.map((each) => [`${each.parent.name}.${each.name}`, each]));
    const weighted = [...byName].map(
      ([name, each]) => [name, weightOf(each, givesHold(each))] as const,
    );
    ofService.set(service, (methods = { byName, weighted }));
  }
  return methods;
}

let ofSamples: Shapes = new Map();
/** Reads the samples of the API, once. */
export async function readShapes(service: Service): Promise<void> {
  if (ofSamples.size === 0) ofSamples = await shapesOf(methodsOf({ service }).byName.values());
}

const optionsOf = (method: DescMethod): MethodOptions => getOption(method, methodOptions);
const givesHold = (method: DescMethod): boolean => optionsOf(method).holds !== Holds.UNSPECIFIED;

/** Whether the attacker might be let through: they hold what it asks for somewhere, or it asks everybody for nothing. */
export function isTheirs({ allowed }: World, method: DescMethod): boolean {
  const { permission, objectPermission, ownData } = optionsOf(method);
  const wanted = objectPermission === "" ? permission : objectPermission;
  if (ownData || wanted === "authenticated" || wanted === "public") return true;
  return [...allowed].some((pair) => pair.startsWith(`${wanted} at `));
}

/** Whether a request says where it acts. */
export const hasContext = ({ input }: DescMethod): boolean =>
  input.fields.some(({ name }) => name === "ctx");

const theirs = new WeakMap<World, { of: number; weighted: Methods["weighted"] }>();

function methodsOfTheirs(world: World): Methods["weighted"] {
  let own = theirs.get(world);
  if (own?.of !== world.allowed.size) {
    const { byName, weighted } = methodsOf(world);
    const fitting = weighted.filter(([name]) => {
      const method = byName.get(name);
      return method !== undefined && isTheirs(world, method);
    });
    theirs.set(world, (own = { of: world.allowed.size, weighted: fitting }));
  }
  return own.weighted;
}

/** A bearer token: one that was the attacker's at first, one that is for somebody else, or any, mostly a late one. */
export function bearer(random: Random, world: World): string | undefined {
  const drawn = random.next();
  if (drawn < 0.5) return known(random, world, "own_bearer", "bearer");
  const { book, subjects, attackers } = world;
  const ofOthers = book.of("bearer").filter((each) => {
    const subject = subjects.get(each);
    return subject !== undefined && !attackers.has(subject.replace(/^user /, ""));
  });
  const chosen = drawn < 0.85 ? random.one(ofOthers) : undefined;
  return chosen === undefined ? known(random, world, "bearer") : nameIn(chosen);
}

/** The user whom a token is for, as steps name them. */
export function subjectOf({ subjects }: World, by: string | undefined): string | undefined {
  const subject = by === undefined ? undefined : subjects.get(by.slice(2, -2));
  return subject === undefined ? undefined : nameIn(subject);
}

// A method may be about something that the attacker knows none of.
const mostDraws = 6;

function drawBody(
  random: Random,
  world: World,
  { method, by }: { method: DescMethod; by: string | undefined },
): JsonObject | undefined {
  const { input } = method;
  const drawn = { resource: resourceOf(method), depth: 0, subject: subjectOf(world, by) };
  const shape = random.chance(0.65) ? random.one(ofSamples.get(pathOf(method)) ?? []) : undefined;
  const body =
    shape === undefined
      ? drawMessage(random, world, input, drawn)
      : drawShaped(random, world, { type: input, shape }, drawn);
  const isNameless =
    body["id"] === undefined &&
    input.fields.some(({ name }) => name === "id") &&
    !random.chance(0.05);
  return isNameless ? undefined : matched(random, world, body);
}

/** Any method with any words. */
export const call: Action = {
  weight: 40,
  draw(random, world) {
    const { byName, weighted } = methodsOf(world);
    const by = random.chance(0.03) ? undefined : bearer(random, world);
    for (let draws = 0; draws < mostDraws; draws++) {
      const name = random.weighted(random.chance(0.7) ? methodsOfTheirs(world) : weighted);
      const method = byName.get(name);
      const body = method === undefined ? undefined : drawBody(random, world, { method, by });
      if (method === undefined || body === undefined) continue;
      const isGrpc = method.methodKind !== "unary" || random.chance(0.25);
      return {
        method: name,
        ...(by === undefined ? {} : { by }),
        ...(random.chance(0.02) ? { abroad: true } : {}),
        ...(isGrpc ? { grpc: true } : {}),
        body,
      };
    }
    return undefined;
  },
  async run(world, words) {
    const name = text(words, "method");
    const method = methodsOf(world).byName.get(name);
    if (method === undefined) throw new Error(`no method ${name}`);
    const host = words["abroad"] === true ? `localhost:${world.service.port}` : world.host;
    const body = words["body"] ?? {};
    const token = optional(words, "by");
    const given = { host, body, ...(token === undefined ? {} : { token }) };
    const { isDone, json } =
      words["grpc"] === true
        ? await world.service.grpc.call(method, given)
        : await callJson(world.service, { ...given, path: pathOf(method) }).then((answer) => ({
            isDone: answer.status === 200,
            json: answer.json,
          }));
    const outcome = isDone ? { told: json } : { why: reasonIn(json) };
    return { isDone, label: name, of: resourceOf(method), ...outcome };
  },
};
