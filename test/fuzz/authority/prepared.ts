import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { samples } from "../../api/samples.ts";
import { importOf, type World as SampleWorld } from "../../api/samples/sample.ts";
import { pathOf } from "../../support/protocols.ts";
import { type Action, known, optional, type Outcome, reasonIn, text } from "./action.ts";
import { kindOfPath, withoutSample } from "./bodies.ts";
import { nameIn, NotLearned } from "./book.ts";
import { browserOf } from "./browser.ts";
import { bearer, hasContext, isTheirs, methodsOf } from "./call.ts";
import { userFor } from "./factors.ts";
import { callJson } from "./service.ts";
import { resourceOf, weightOf } from "./vocabulary.ts";
import { base, type World } from "./world.ts";

const blanks = /<<([^<>]+)>>/g;

/** What a sample keeps for all its turns is a blank, made in no world: the newest of its kind stands for it. */
function whole<V extends JsonValue>(world: World, value: V): V {
  const filled = JSON.stringify(value).replaceAll(blanks, (_, kind: string) => {
    const { book } = world;
    const newest = book.of(kind).at(-1);
    return newest === undefined ? "" : JSON.stringify(book.textOf(newest)).slice(1, -1);
  });
  return JSON.parse(filled) as V;
}

class Refused extends Error {}

/** What an attacker makes on the way: each with the resource that the answer is about. */
type Made = { [name: string]: JsonValue };

/**
 * The world of the samples, in which everything is made by the attacker, in an organization where they may, and about a
 * user whom they name instead of a new one.
 */
function attackersWorld(world: World, words: JsonObject, made: Made): SampleWorld {
  const { service, host, book } = world;
  const token = text(words, "by");
  const user = optional(words, "user");
  const organizationId = text(words, "organization");
  let count = 0;
  const ask = async (method: string, path: string, body?: JsonValue): Promise<JsonObject> => {
    const given = body === undefined ? {} : { body: whole(world, body) };
    const at = whole(world, path);
    const call = (where: string) =>
      callJson(service, { host, token, method, path: encodeURI(where), ...given });
    let { status, json } = await call(at);
    const isTop = /^\/resources\/v3alpha\/\w+(?:\/\w+)?$/.test(at) && !at.includes("/users/");
    // What is of the instance by default an attacker may have in their organization.
    if (status > 299 && isTop) {
      ({ status, json } = await call(`${at}?ctx.org_id=${organizationId}`));
    }
    if (status > 299) throw new Refused(reasonIn(json));
    made[`${kindOfPath(at.replace(base, ""))}_${count++}`] = json;
    return Object(json);
  };
  const create: SampleWorld["create"] = (path, body) => ask("POST", `${base}${path}`, body);
  const make: SampleWorld["make"] = async (path, body) => {
    const isUser = path === "/users" || path.startsWith("/users?");
    if (isUser && user !== undefined) return user;
    return String(Object((await create(path, body))["details"]).id);
  };
  const newTarget = () =>
    make("/targets", {
      name: `target ${world.samples++}`,
      rest_webhook: { url: "http://localhost:9/hook" },
    });
  return {
    instanceId: world.instanceId,
    organizationId,
    projectId: text(words, "project"),
    userId: user ?? book.textOf("user robot"),
    targetId: optional(words, "target") ?? "",
    texts: new Map(),
    newTarget,
    make,
    create,
    createAs: (as, path, body) =>
      callJson(service, { host, token: as, path: `${base}${path}`, body: body ?? {} }).then(
        ({ json }) => Object(json),
      ),
    put: (path, body) => ask("PUT", `${base}${path}`, body),
    act: async (path) => void (await ask("POST", `${base}${path}`)),
    async open(path) {
      const page = await browserOf(service, host).open(path);
      return page.left?.href ?? page.path;
    },
    async setExecution() {
      const condition = { function: "presamlresponse" };
      return make("/executions", { condition, targets: [await newTarget()] });
    },
    async bring(records, then) {
      const path = "/management/v1/import?await_response=false";
      const { job } = await ask("POST", path, importOf(Math.min(records, 50)));
      const id = String(Object(job).id);
      if (then !== undefined) await ask("POST", `/management/v1/import/${id}/${then}`);
      return id;
    },
    consent: () => Promise.reject(new Refused("only on a page")),
    name: () => `s${world.samples++}`,
  };
}

/** A method after all that must come before it, done right: by somebody, in a place, about somebody. */
export const prepared: Action = {
  weight: 9,
  draw(random, world) {
    const by = bearer(random, world);
    if (by === undefined) return undefined;
    const fitting = [...methodsOf(world).byName]
      .filter(([name, method]) => isTheirs(world, method) && !withoutSample.test(`.${name}`))
      .filter(([, method]) => samples[pathOf(method)] !== undefined)
      .map(([name, method]) => [name, weightOf(method, /^User|Import/.test(name))] as const);
    if (fitting.length === 0) return undefined;
    const user = random.chance(0.6) ? userFor(random, world, by) : undefined;
    const target = known(random, world, "target");
    return {
      method: random.weighted(fitting),
      by,
      organization: random.chance(0.7)
        ? nameIn("organization alpha")
        : (known(random, world, "organization") ?? ""),
      project: random.chance(0.6)
        ? nameIn("project alpha")
        : (known(random, world, "project") ?? ""),
      ...(user === undefined ? {} : { user }),
      ...(target === undefined ? {} : { target }),
    };
  },
  async run(world, words): Promise<Outcome> {
    const label = text(words, "method");
    const method = methodsOf(world).byName.get(label);
    const sample = method && samples[pathOf(method)];
    if (method === undefined || sample === undefined) throw new NotLearned(label);
    const made: Made = {};
    const of = resourceOf(method);
    const given = { host: world.host, token: text(words, "by"), path: pathOf(method) };
    const outcome = { label, of, made };
    let body: JsonObject;
    try {
      const valid = await sample.valid(attackersWorld(world, words, made), world.samples++);
      body = whole(world, JSON.parse(JSON.stringify(valid)) as JsonObject);
    } catch (error) {
      // Samples say with their errors that what they asked for was refused.
      const why = error instanceof Refused ? `before: ${error.message}` : "before";
      return { ...outcome, isDone: false, why };
    }
    let { status, json } = await callJson(world.service, { ...given, body });
    if (status !== 200 && hasContext(method) && body["ctx"] === undefined) {
      const ctx = { org_id: text(words, "organization") };
      ({ status, json } = await callJson(world.service, { ...given, body: { ...body, ctx } }));
    }
    if (status !== 200) return { ...outcome, isDone: false, why: reasonIn(json) };
    return { ...outcome, isDone: true, told: json };
  },
};
