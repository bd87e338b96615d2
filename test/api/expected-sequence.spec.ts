// Run: alone
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { restBindings } from "../../src/api/transcode/body.ts";
import { messageOf, type Protocol, someProtocols } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { startSamples } from "./sample-service.ts";
import { samples } from "./samples.ts";

const samplesOfAll = await startSamples();
const { app, system, peer, world } = samplesOfAll;
after(() => samplesOfAll[Symbol.asyncDispose]());

const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
const changing = new Set(["PATCH", "PUT", "DELETE"]);
/** What replaces, changes or removes one object that is there. */
const isChange = (method: DescMethod) =>
  method.name === "PutExecution" ||
  restBindings(method).some(({ httpMethod }) => changing.has(httpMethod));
const changes = unary.filter(({ rule }) => isChange(rule.method));
const neverReached = (2n ** 63n - 1n).toString();
const mismatch = { code: 10, reason: "SEQUENCE_MISMATCH" };
const token = app.token;

/** What the caller has done last; what jobs did later in their name does not count. */
const done = async (): Promise<unknown> => {
  const filters = [{ editor: { user_id: world.userId } }];
  const path = "/resources/v3alpha/events/_search?query.limit=20";
  const { json } = await peer.rest("POST", path, filters, { token });
  const found: { type: string; sequence: string }[] = Object(json).result;
  return found.find(({ type }) => !type.endsWith(".contents.removed"))?.sequence;
};

const sequenceOf = (details: JsonValue | undefined) => String(Object(details).sequence);

describe("expected_sequence", () => {
  it("is a field of every method that changes or removes an object, and of no other", () => {
    const having = unary.filter(({ rule }) => {
      const field = rule.method.input.field["expectedSequence"];
      return field?.scalar === ScalarType.UINT64 && field.proto.proto3Optional;
    });
    assert.deepEqual(
      having.map(({ rule }) => rule.path),
      changes.map(({ rule }) => rule.path),
    );
    assert.ok(having.length >= 70);
    for (const { rule } of having) {
      assert.equal(rule.method.input.field["expectedSequence"]?.number, 15, rule.path);
    }
  });

  for (const [nth, { rule }] of changes.entries()) {
    const { method, path } = rule;
    it(`of ${method.name}: another one changes nothing and tells the present one, which succeeds`, async () => {
      const sample = samples[path];
      assert.ok(sample);
      const request: JsonObject = await sample.valid(world, 0);
      const as = sample.caller === "system" ? system : app.token;
      const call = (protocol: Protocol, more: JsonObject) =>
        peer.call(protocol, method, fromJson(method.input, { ...request, ...more }), { token: as });
      const before = await done();
      const present = new Set<string | undefined>();
      for (const protocol of someProtocols(nth)) {
        const refusal = await call(protocol, { expected_sequence: neverReached });
        assertRefused(refusal, mismatch, protocol);
        present.add(refusal.metadata["sequence"]);
      }
      assert.equal(present.size, 1);
      assert.equal(await done(), before);
      const [sequence = ""] = present;
      const read = await reading(method, request, as);
      if (read !== undefined) assert.equal(sequence, read, "what is read");
      const answer = messageOf(await call("grpc", { expected_sequence: sequence }));
      const told = toJson(method.output, answer, { useProtoFieldName: true });
      assert.ok(BigInt(sequenceOf(Object(told).details)) >= BigInt(sequence));
    });
  }

  /** The sequence that reading the object tells, where a method reads it by its id or context. */
  async function reading(
    method: DescMethod,
    { id, key, ctx, session_token }: JsonObject,
    as: string,
  ): Promise<string | undefined> {
    const [, of = ""] = /^(?:Patch|Delete|Set)(\w+)$/.exec(method.name) ?? [];
    const get = method.parent.methods.find(
      ({ name, methodKind }) =>
        (name === `Get${of}` || name === `Resolve${of}`) && methodKind === "unary",
    );
    if (get === undefined) return undefined;
    const named = { id, key, ctx, session_token };
    const request = Object.fromEntries(
      Object.entries(named).filter(
        ([name, value]) =>
          value !== undefined && get.input.fields.some((field) => field.name === name),
      ),
    ) as JsonObject;
    const read = await peer.call("grpc", get, fromJson(get.input, request), { token: as });
    // What does not exist yet is made by a change that expects 0.
    if (!read.ok && read.code === 5) return "0";
    const json = Object(
      toJson(get.output, messageOf(read), { useProtoFieldName: true, alwaysEmitImplicit: true }),
    );
    const [details] = [
      json.details,
      ...Object.values(json).map((each) => Object(each).details),
    ].filter((each) => each !== undefined);
    assert.ok(details !== undefined, get.name);
    return sequenceOf(details);
  }
});

describe("If-Match", () => {
  const renamed = (name: string) => ({ name });
  const patch = (id: string, headers: Record<string, string>, query = "") =>
    peer.rest("PATCH", `/resources/v3alpha/targets/${id}${query}`, renamed(world.name()), {
      token,
      headers,
    });
  const sequenceOfTarget = async (id: string) => {
    const { json } = await peer.rest("GET", `/resources/v3alpha/targets/${id}`, undefined, {
      token,
    });
    return sequenceOf(Object(json).target.details);
  };

  it("says the same by the sequence in quotes", async () => {
    const id = await world.newTarget();
    const sequence = await sequenceOfTarget(id);
    const { refusal, status } = await patch(id, { "if-match": `"${neverReached}"` });
    assertRefused(refusal, mismatch);
    assert.equal(status, 409);
    assert.deepEqual(refusal.metadata, { sequence });
    assert.equal((await patch(id, { "if-match": `"${sequence}"` })).status, 200);
    assertRefused((await patch(id, { "if-match": `"${sequence}"` })).refusal, mismatch);
    const last = await sequenceOfTarget(id);
    const removed = await peer.rest("DELETE", `/resources/v3alpha/targets/${id}`, undefined, {
      token,
      headers: { "if-match": `"${last}"` },
    });
    assert.equal(removed.status, 200);
  });

  it("is satisfied by any object with *", async () => {
    assert.equal((await patch(await world.newTarget(), { "if-match": "*" })).status, 200);
  });

  it("is refused where it is no sequence in quotes, or another one than the field", async () => {
    const id = await world.newTarget();
    for (const value of ["1", '"x"', 'W/"1"', '"1", "2"', '""', '"-1"', `"${"9".repeat(21)}"`]) {
      const { refusal } = await patch(id, { "if-match": value });
      assertRefused(refusal, { code: 3, reason: "IF_MATCH_INVALID", field: "if-match" }, value);
    }
    const { refusal } = await patch(id, { "if-match": '"1"' }, "?expected_sequence=2");
    assertRefused(refusal, { code: 3, reason: "IF_MATCH_INVALID", field: "if-match" });
  });

  it("is refused by methods that cannot obey it, and passed over by those that only read", async () => {
    const id = await world.newTarget();
    const headers = { "if-match": '"1"' };
    const created = await peer.rest(
      "POST",
      "/resources/v3alpha/targets",
      { name: world.name(), rest_webhook: { url: "http://localhost:9999/hook" } },
      { token, headers },
    );
    assertRefused(created.refusal, { code: 3, reason: "IF_MATCH_UNSUPPORTED", field: "if-match" });
    const read = await peer.rest("GET", `/resources/v3alpha/targets/${id}`, undefined, {
      token,
      headers,
    });
    assert.equal(read.status, 200);
  });
});

describe("expected_sequence of what is not one object", () => {
  it("a session at another sequence does not learn whether a password is right", async () => {
    const wanted = { user: { user_id: world.userId } };
    const made = await world.create("/sessions", { checks: wanted });
    const id = Object(made).details.id;
    const { refusal } = await peer.rest(
      "PATCH",
      `/resources/v3alpha/sessions/${id}?expected_sequence=1`,
      { checks: { password: { password: "wrong" } } },
      { token },
    );
    assertRefused(refusal, mismatch);
  });

  it("settings that were never set are at 0", async () => {
    const organization = await world.make("/organizations", { name: world.name() });
    const path = (expected: string) =>
      `/settings/v3alpha/login?ctx.org_id=${organization}&expected_sequence=${expected}`;
    const body = { force_mfa: { set: true } };
    const refused = await peer.rest("PATCH", path("7"), body, { token });
    assertRefused(refused.refusal, mismatch);
    assert.deepEqual(refused.refusal.metadata, { sequence: "0" });
    assert.equal((await peer.rest("PATCH", path("0"), body, { token })).status, 200);
    assertRefused((await peer.rest("PATCH", path("0"), body, { token })).refusal, mismatch);
    const nothing = await peer.rest("PATCH", path("0"), {}, { token });
    assertRefused(nothing.refusal, mismatch);
  });

  it("a provider is at what the inheriting organization sees of it", async () => {
    const organization = await world.make("/organizations", { name: world.name() });
    const id = await world.make("/idps/oidc", {
      idp: { name: world.name() },
      config: { issuer: "https://op.example.com", client_id: "c", client_secret: "s" },
    });
    const at = `ctx.org_id=${organization}`;
    const seen = async () => {
      const { json } = await peer.rest(
        "GET",
        `/resources/v3alpha/idps/oidc/${id}?${at}`,
        undefined,
        {
          token,
        },
      );
      return sequenceOf(Object(json).idp.details);
    };
    const patch = (expected: string, policy: string) =>
      peer.rest(
        "PATCH",
        `/resources/v3alpha/idps/oidc/${id}?${at}&expected_sequence=${expected}`,
        { idp: policy === "" ? {} : { state_policy: policy } },
        { token },
      );
    const first = await seen();
    assert.equal((await patch(first, "STATE_POLICY_DEACTIVATE")).status, 200);
    const second = await seen();
    assert.notEqual(second, first);
    assertRefused((await patch(first, "STATE_POLICY_ACTIVATE")).refusal, mismatch);
    assertRefused((await patch(first, "")).refusal, mismatch);
    assert.equal((await patch(second, "STATE_POLICY_ACTIVATE")).status, 200);
    assert.equal((await patch(await seen(), "")).status, 200);
  });

  it("a domain is at its own last event, not at that of its organization", async () => {
    const organization = await world.make("/organizations", { name: world.name() });
    const make = async (name: string) => {
      const { json } = await peer.rest(
        "POST",
        `/resources/v3alpha/domains?ctx.org_id=${organization}`,
        { name },
        { token },
      );
      return Object(json).details.id as string;
    };
    const [first] = [await make("first.example"), await make("second.example")];
    const { json } = await peer.rest("GET", `/resources/v3alpha/domains/${first}`, undefined, {
      token,
    });
    const sequence = sequenceOf(Object(json).domain.details);
    const remove = (expected: string) =>
      peer.rest(
        "DELETE",
        `/resources/v3alpha/domains/${first}?expected_sequence=${expected}`,
        undefined,
        {
          token,
        },
      );
    assertRefused((await remove(String(Number(sequence) + 1))).refusal, mismatch);
    assert.equal((await remove(sequence)).status, 200);
  });
});
