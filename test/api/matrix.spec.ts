// Run: alone, early
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  clone,
  type DescMessage,
  type DescMethod,
  equals,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { addCaller, engine, metricsHeaders } from "../support/app.ts";
import {
  type CallOptions,
  messageOf,
  pathOf,
  type Peer,
  type Protocol,
  protocols,
  restPlaceOf,
  someProtocols,
} from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { roundsOf } from "../support/rounds.ts";
import { refusedOverAll } from "./refused-over-all.ts";
import { startSamples } from "./sample-service.ts";
import { samples, services } from "./samples.ts";

// Started at once, and not before the tests: the served methods make the tests.
const samplesOfAll = await startSamples();
const { app, system, world } = samplesOfAll;
// Streams are followed over each protocol by their own tests.
const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
const { token: nobody } = await addCaller(app, []);
after(() => samplesOfAll[Symbol.asyncDispose]());

const others = protocols.filter((protocol) => protocol !== "grpc" && protocol !== "rest");
/**
 * A protocol frames all methods in the same way, and only REST has a path of its own for each. On SQLite each is called by gRPC, by
 * REST and by another protocol; by all of them in `matrix-whole.spec.ts`. How a call is framed has nothing to do with the store: on
 * PostgreSQL each is called by one protocol. The next one is called by another.
 */
const protocolsOf = (nth: number): readonly Protocol[] => {
  if (engine !== "sqlite") return someProtocols(nth, 1);
  const count = Math.max(roundsOf(3) - 2, 0);
  return [
    "grpc",
    "rest",
    ...others.map((_, at) => others[(nth + at) % others.length] ?? "rest").slice(0, count),
  ];
};

/** The peer of the samples, whose calls are noted here: those that make the samples are made over REST, and by no `call`. */
const made = new Map<string, number>();
const peer: Peer = {
  ...samplesOfAll.peer,
  call(protocol, method, ...rest) {
    const key = `${pathOf(method)} ${countedAs(protocol)}`;
    made.set(key, (made.get(key) ?? 0) + 1);
    return samplesOfAll.peer.call(protocol, method, ...rest);
  },
};

const call = (protocol: Protocol, method: DescMethod, json: JsonObject, options: CallOptions) =>
  peer.call(protocol, method, fromJson(method.input, json), options);

const volatile: ReadonlySet<string> = new Set([
  "access_token",
  "auth_url",
  "challenge",
  "change_date",
  "creation_date",
  "org_id",
  "client_id",
  "client_secret",
  "code",
  "creation_date",
  "domain",
  "duration",
  "email_code",
  "expiration_date",
  "event_sequence",
  "id",
  "id_token",
  "key",
  "keyId",
  "key_id",
  "organization_id",
  "otp_email_id",
  "otp_sms_id",
  "personal_access_token",
  "phone_code",
  "record",
  "recovery_codes",
  "secret",
  "session_id",
  "session_token",
  "sequence",
  "signing_key",
  "token",
  "token_id",
  "totp_id",
  "uri",
  "url",
  "userId",
  "user_id",
  "verification_code",
  "web_auth_n_id",
]);

const counts: ReadonlySet<string> = new Set(["created", "existed", "refused"]);

/** A message with what a write makes anew replaced by its type. */
function shapeOf(method: DescMethod, message: Message): JsonValue {
  const json = toJson(method.output, message, {
    useProtoFieldName: true,
    alwaysEmitImplicit: true,
  });
  const masked = (value: JsonValue, name: string): JsonValue => {
    if (Array.isArray(value)) return value.map((each) => masked(each, name));
    if (value === null || typeof value !== "object") {
      return volatile.has(name) && value !== app.made.instance_id ? typeof value : value;
    }
    // How far an import had come when it was paused or cancelled is a matter of the moment.
    const isMoment = /^IMPORT_STATE_(PAUSED|CANCELLED)$/.test(String(value["state"]));
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) =>
        isMoment && counts.has(key) ? [key, typeof each] : [key, masked(each, key)],
      ),
    );
  };
  return masked(json, "");
}

/** What the service's own count calls a protocol. */
const countedAs = (protocol: Protocol): string => protocol.replace(/-(text|json|proto|http2)$/, "");

/** Calls that the running service has counted, by method and protocol. */
async function callsCounted(): Promise<Map<string, number>> {
  const { body } = await peer.send({ method: "GET", path: "/metrics", headers: metricsHeaders });
  const counted = new Map<string, number>();
  for (const line of body.toString().split("\n")) {
    if (!line.startsWith("idsvc_rpc_calls_total{")) continue;
    const [, service, method, protocol] =
      /service="([^"]+)",method="([^"]+)",.*protocol="([^"]+)"/.exec(line) ?? [];
    const key = `/${service}/${method} ${protocol}`;
    counted.set(key, (counted.get(key) ?? 0) + Number(line.split(" ").at(-1)));
  }
  return counted;
}

describe("the matrix of methods and protocols", () => {
  it("has a sample of every rpc, and no other", () => {
    const served = unary.map(({ rule }) => rule.path).sort();
    assert.ok(served.length > 0);
    assert.deepEqual(Object.keys(samples).sort(), served);
  });

  it("covers every rpc of the schema's services", () => {
    const described = services.flatMap(({ methods }) => methods.map(pathOf));
    const served = new Set(app.app.endpoints.map(({ rule }) => rule.path));
    assert.deepEqual(
      described.filter((path) => !served.has(path)),
      [],
    );
  });

  it("tells a gRPC client the message of a refusal as it is", async () => {
    const refusal = await call("grpc", ActionService.method.getTarget, { id: "1" }, {});
    assertRefused(refusal, { code: 16, reason: "TOKEN_MISSING" });
    assert.equal(refusal.headers["grpc-message"], refusal.message);
  });

  it("names an unknown id for every rpc whose path holds one", () => {
    const unnamed = unary.filter(
      ({ rule: { method, path } }) =>
        restPlaceOf(method).template.includes("{") && samples[path]?.unknown === undefined,
    );
    assert.deepEqual(unnamed, []);
  });
});

/** A cursor is sealed anew for each answer: what counts is whether there is one. */
function withoutSeal(type: DescMessage, message: Message): Message {
  const copy = clone(type, message);
  const details: unknown = Reflect.get(copy, "details");
  const next: unknown = Reflect.get(Object(details), "next");
  if (typeof next === "string" && next !== "") Reflect.set(Object(details), "next", "sealed");
  return copy;
}

const spares = new Map<string, Promise<JsonObject>>();

for (const [nth, { rule }] of unary.entries()) {
  const { method, path, successStatus } = rule;
  const sample = samples[path];
  if (sample === undefined) continue; // the first test says so
  const token = sample.caller === "system" ? system : app.token;
  const own = protocolsOf(nth);
  // Refusals are the same for every method: two protocols here, another on the other engine.
  const some = engine === "sqlite" ? someProtocols(nth + 1) : someProtocols(nth, 1);
  const request = async (turn = 0) => sample.valid(world, turn);
  /** For calls that are refused, which leave it as it was. */
  const unused = (): Promise<JsonObject> => {
    const found = spares.get(path) ?? request();
    spares.set(path, found);
    return found;
  };

  describe(`${method.parent.name}.${method.name}`, () => {
    /** What the method answers by each protocol. */
    const answers = async (): Promise<Map<Protocol, Message>> => {
      const found = new Map<Protocol, Message>();
      for (const [turn, protocol] of own.entries()) {
        const outcome = await call(protocol, method, await request(turn), { token });
        found.set(protocol, messageOf(outcome));
        if (protocol === "rest") {
          const expected = method.name === "PutExecution" ? 200 : successStatus;
          assert.equal(outcome.httpStatus, expected, "HTTP status");
        }
      }
      return found;
    };
    const differing = (found: ReadonlyMap<Protocol, Message>): Protocol[] => {
      const [first, ...rest] = [...found].map(
        ([protocol, message]) => [protocol, withoutSeal(method.output, message)] as const,
      );
      assert.ok(first);
      return rest.flatMap(([protocol, message]) =>
        equals(method.output, message, first[1]) ? [] : [protocol],
      );
    };

    const over =
      own.length > 1 ? `the same result over ${own.join(", ")}` : `its result over ${own[0]}`;
    it(`gives ${over}`, async () => {
      let found = await answers();
      if (sample.writes) {
        const [first] = found.values();
        assert.ok(first);
        for (const [protocol, message] of found)
          assert.deepEqual(shapeOf(method, message), shapeOf(method, first), protocol);
        return;
      }
      // What earlier calls brought about may still be written, between two of these: then they tell of different states.
      for (let more = 0; more < 5 && differing(found).length > 0; more++) found = await answers();
      assert.deepEqual(differing(found), []);
    });

    // Methods that let every caller in say in their sample what they meet behind the door.
    const { stranger = { code: 7, reason: "PERMISSION_MISSING" } } = sample;
    if (stranger === "answered") {
      it("answers every caller with a token", async () => {
        for (const protocol of own) {
          messageOf(await call(protocol, method, await unused(), { token: nobody }));
        }
      });
    } else {
      it(`refuses a caller without permission with code ${stranger.code}`, async () => {
        const refusal = await refusedOverAll(peer, method, await unused(), { token: nobody }, some);
        assertRefused(refusal, stranger);
        if (rule.access !== "permission") return;
        assert.deepEqual(refusal.metadata, { permission: rule.permission });
      });
    }

    const { unknown } = sample;
    if (unknown !== undefined) {
      it("refuses what does not exist with code 5", async () => {
        const refusal = await refusedOverAll(peer, method, unknown.request, { token }, some);
        assertRefused(refusal, { code: 5, reason: unknown.reason });
      });
    }
  });
}

const skip = engine !== "sqlite" && "how often they run is no question of the store";
describe("the interceptors", { skip }, () => {
  it("ran once a call, of every method over every protocol", async () => {
    const counted = [...(await callsCounted())].filter(([key]) => !key.endsWith(" rest"));
    const expected = [...made].filter(([key]) => !key.endsWith(" rest"));
    assert.ok(expected.length > 200 * 3);
    assert.deepEqual(new Map(counted), new Map(expected));
  });

  it("run once a call over REST", async () => {
    const wanted: [DescMethod, JsonObject][] = [];
    for (const { rule } of unary) {
      const request = await (spares.get(rule.path) ?? samples[rule.path]?.valid(world, 0));
      if (request !== undefined) wanted.push([rule.method, request]);
    }
    const before = await callsCounted();
    made.clear();
    for (const [method, request] of wanted) await call("rest", method, request, { token: nobody });
    assert.ok(made.size > 200);
    for (const [key, count] of made) before.set(key, (before.get(key) ?? 0) + count);
    assert.deepEqual(await callsCounted(), before);
  });
});
