import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Kernel } from "../../../src/app/kernel.ts";
import { consent, consentEvents } from "../../../src/resources/consent/index.ts";
import type { Peer } from "../../support/protocols.ts";

/** What stands in the store before a sample is called. */
export type World = {
  instanceId: string;
  /** The default organization, its project (the service's own), and the machine user that calls. */
  organizationId: string;
  projectId: string;
  userId: string;
  targetId: string;
  newTarget(): Promise<string>;
  setExecution(): Promise<string>;
  /** The TXT records that the service finds, by name. */
  texts: Map<string, string[]>;
  /** Creates a resource over REST, and gives the answer. */
  create(path: string, body?: JsonValue, caller?: "owner" | "system"): Promise<JsonObject>;
  /** The same with the token of another caller. */
  createAs(token: string, path: string, body?: JsonValue): Promise<JsonObject>;
  /** Creates a resource over REST, and gives its id. */
  make(path: string, body: JsonObject, caller?: "owner" | "system"): Promise<string>;
  /** Sets a part of a resource by its path, and gives the answer. */
  put(path: string, body: JsonObject): Promise<JsonObject>;
  /** Does something to a resource by its path. */
  act(path: string): Promise<void>;
  /** Opens a page as a browser does; where it leads to. */
  open(path: string): Promise<string>;
  /** Begins an import of so many records, perhaps ends it in some way, and gives its id. */
  bring(records: number, then?: "_pause" | "_cancel"): Promise<string>;
  /** Lets an app have something, as the caller would on the page; the id of the consent. */
  consent(): Promise<string>;
  /** A name that nothing else has. */
  name(): string;
};

/**
 * Requests of one method, as JSON of its request message: one that succeeds, one that breaks a rule of the schema with
 * the field that it breaks, and one that names what does not exist.
 */
export type Sample = {
  valid(world: World, turn: number): JsonObject | Promise<JsonObject>;
  /** Nothing where the request has no field that a rule could be about. */
  invalid: { request: JsonObject; field: string; reason?: string } | undefined;
  /** Nothing where the request names nothing. */
  unknown: { request: JsonObject; reason: string } | undefined;
  /** Reads answer the same message each time; writes answers of one shape. */
  writes: boolean;
  /** Who calls: the owner of the instance unless it says otherwise. */
  caller?: "system";
  /** What a caller without any permission meets: by default, that they lack the one that the method asks for. */
  stranger?: "answered" | { code: number; reason: string };
};

export const webhook = (url = "http://localhost:9999/hook") => ({ rest_webhook: { url } });

export const tooLong = "x".repeat(201);
export const tooLongId = { request: { id: tooLong }, field: "id" };

/** An import whose records are all refused: they name nobody. */
export const importOf = (records: number) => ({
  orgId: "imported",
  orgMembers: Array.from({ length: records }, (_, n) => ({ userId: `${n}`, roles: ["ORG_OWNER"] })),
});

/** A list that asks for nothing. */
export const list: Sample = {
  valid: () => ({}),
  invalid: undefined,
  unknown: undefined,
  writes: false,
};

/** A call that only names an object: `make` gives one that it can be done to, for a read always the same. */
export function onId(
  reason: string,
  make: (world: World) => Promise<string> | string,
  writes = true,
): Sample {
  let made: Promise<string> | string | undefined;
  return {
    valid: async (world) => {
      if (writes || made === undefined) made = make(world);
      return { id: await made };
    },
    invalid: tooLongId,
    unknown: { request: { id: "404" }, reason },
    writes,
  };
}

export function ofService(
  typeName: string,
  methods: Record<string, Sample>,
): Record<string, Sample> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, sample]) => [`/${typeName}/${name}`, sample]),
  );
}

/** Makes what the samples need. */
export async function makeWorld(
  peer: Pick<Peer, "rest" | "send">,
  { token, made, system, texts, kernel }: WorldParts,
  condition: JsonObject,
): Promise<World> {
  let count = 0;
  const name = () => `sample ${count++}`;
  const createAs: World["createAs"] = async (as, path, body) => {
    const { json, status } = await peer.rest("POST", `/resources/v3alpha${path}`, body, {
      token: as,
    });
    assert.ok(status === 201 || status === 200, JSON.stringify(json));
    return Object(json);
  };
  const create: World["create"] = (path, body, caller) =>
    createAs(caller === "system" ? system : token, path, body);
  const make: World["make"] = async (...wanted) =>
    String(Object(await create(...wanted)).details.id);
  const put: World["put"] = async (path, body) => {
    const { status, json } = await peer.rest("PUT", `/resources/v3alpha${path}`, body, { token });
    assert.equal(status, 200, JSON.stringify(json));
    return Object(json);
  };
  const act = async (path: string) => {
    const { status, json } = await peer.rest("POST", `/resources/v3alpha${path}`, undefined, {
      token,
    });
    assert.equal(status, 200, JSON.stringify(json));
  };
  const open = async (path: string) =>
    String((await peer.send({ method: "GET", path })).headers["location"]);
  const bring: World["bring"] = async (records, then) => {
    const told = async (path: string, body?: JsonValue) => {
      const { status, json } = await peer.rest("POST", `/management/v1${path}`, body, { token });
      assert.equal(status, 200, JSON.stringify(json));
      return String(Object(json).job.id);
    };
    const id = await told("/import?await_response=false", importOf(records));
    if (then !== undefined) await told(`/import/${id}/${then}`);
    return id;
  };
  const giveConsent: World["consent"] = async () => {
    const { events, newId } = kernel;
    const { instance_id: instanceId, organization_id, machine } = made;
    const [id, userId] = [newId(), machine.user_id];
    const by = { instanceId, editorId: userId, service: "login", clientId: "", requestId: "" };
    await events.transact(by, async (tx) => {
      const given = { userId, clientId: newId(), scope: ["openid"] };
      const owner = { type: "org", id: organization_id } as const;
      const granted = consentEvents["consent.granted"](given);
      tx.record(consent, tx.begin(consent, id), [granted], owner);
    });
    return id;
  };
  const newTarget = () => make("/targets", { name: name(), ...webhook() });
  const [targetId] = [await newTarget(), await newTarget(), await newTarget()];
  const setExecution = () => make("/executions", { condition, targets: [targetId] });
  await setExecution();
  return {
    instanceId: made.instance_id,
    organizationId: made.organization_id,
    projectId: made.project_id,
    userId: made.machine.user_id,
    targetId,
    newTarget,
    setExecution,
    texts,
    create,
    createAs,
    make,
    put,
    act,
    open,
    bring,
    name,
    consent: giveConsent,
  };
}

type WorldParts = {
  token: string;
  made: Made;
  system: string;
  texts: Map<string, string[]>;
  kernel: Pick<Kernel, "events" | "newId">;
};

type Made = {
  instance_id: string;
  organization_id: string;
  project_id: string;
  machine: { user_id: string };
};
