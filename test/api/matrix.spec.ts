import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  type DescMethod,
  equals,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { http as httpRule } from "#gen/google/api/annotations_pb.ts";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import type { MethodRule } from "../../src/api/method-rule.ts";
import { modules } from "../../src/app/modules.ts";
import type { Deps } from "../../src/projection/module.ts";
import { addCaller, startTestApp, type TestApp } from "../support/app.ts";
import {
  type CallOptions,
  connectPeer,
  messageOf,
  type Outcome,
  pathOf,
  type Peer,
  protocols,
} from "../support/protocols.ts";
import { assertRefused, type Refusal } from "../support/refusal.ts";
import { makeWorld, type Sample, samples, type World } from "./samples.ts";

let app: TestApp;
let peer: Peer;
let world: World;
let nobody: string;
const rules = new Map<string, MethodRule>();

before(async () => {
  app = await startTestApp();
  peer = connectPeer(app.port);
  world = await makeWorld(peer, app.token);
  nobody = (await addCaller(app, [])).token;
  for (const { rule } of app.app.endpoints) rules.set(rule.path, rule);
});
after(async () => {
  peer[Symbol.dispose]();
  await app[Symbol.asyncDispose]();
});

// The descriptors, without a store: what the modules serve is known before anything is opened.
const flags = { multitenancy_resources_api: true, multitenancy_settings: true };
const served = modules({ ...flags, oidc_token_exchange: false })
  .flatMap(({ services }) => services?.({ limits: {}, db: { table: () => ({}) } } as never as Deps) ?? [])
  .flatMap(({ service }) => service.methods);

// TODO: see below
const wrongHost = "unknown.test";
const httpStatuses: Readonly<Record<number, number>> = { 3: 400, 5: 404, 7: 403, 9: 400, 16: 401 };

const fromSample = (method: DescMethod, json: JsonValue): MessageInitShape<typeof method.input> =>
  fromJson(method.input, json);

/** Makes the call over every protocol. Nothing of it may differ, so the first outcome stands for all. */
async function refusedOverAll(
  method: DescMethod,
  request: JsonObject,
  options: CallOptions,
): Promise<Refusal> {
  const outcomes: [string, Refusal][] = [];
  for (const protocol of protocols) {
    const outcome = await peer.call(protocol, method, fromSample(method, request), options);
    assert.ok(!outcome.ok, `${protocol} should refuse`);
    outcomes.push([protocol, outcome]);
  }
  const [[, first] = []] = outcomes;
  assert.ok(first);
  for (const [protocol, { httpStatus, code, message, reason, details }] of outcomes) {
    const told = { code, message, reason, details };
    const wanted = {
      code: first.code,
      message: first.message,
      reason: first.reason,
      details: first.details,
    };
    assert.deepEqual(told, wanted, protocol);
    if (protocol === "rest" || protocol === "connect-json" || protocol === "connect-proto") {
      assert.equal(httpStatus, httpStatuses[code], `HTTP status of ${protocol}`);
    }
  }
  return first;
}
