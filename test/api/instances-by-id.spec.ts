// Run: alone
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { addSecondInstance } from "./abuse.ts";
import { startSamples } from "./sample-service.ts";
import { samples } from "./samples.ts";

const service = await startSamples();
const { app, peer, world } = service;
const other = await addSecondInstance(app, "i2.test");
after(() => service[Symbol.asyncDispose]());

/** Methods whose samples name what every instance has (a built-in schema, a method of the API), or a context. */
const without: readonly string[] = [
  "/idsvc.resources.userschema.v3alpha.UserSchemaService/GetUserSchema",
  "/idsvc.resources.action.v3alpha.DeliveryService/MatchExecution",
  "/idsvc.resources.membership.v3alpha.MembershipService/SearchMemberships",
];

describe("an owner of another instance", () => {
  for (const { rule, kind } of app.app.endpoints) {
    const sample = samples[rule.path];
    // System callers may name every instance; of contexts there are tests of their own (abuse-tenants.spec.ts).
    if (kind !== "unary" || sample?.unknown === undefined || sample.caller === "system") continue;
    const { request: unknown } = sample.unknown;
    if ("ctx" in unknown || without.includes(rule.path)) continue;
    it(`D44: who names an object of this one at ${rule.path} is answered as if it never was`, async () => {
      const ask = (request: JsonObject) =>
        peer.call("rest", rule.method, fromJson(rule.method.input, request), other);
      const nobodys = await ask(unknown);
      assert.ok(!nobodys.ok);
      assertRefused(await ask(await sample.valid(world, 0)), nobodys);
    });
  }
});

describe("a session of this instance that is of nobody yet", () => {
  it("D44: is none for an owner of another instance", async () => {
    const base = "/resources/v3alpha/sessions";
    const made = await peer.rest("POST", base, {}, { token: app.token });
    const path = `${base}/${bodyOf(made, 201).details.id}`;
    const gone = { code: 5, reason: "SESSION_NOT_FOUND" };
    assertRefused((await peer.rest("GET", path, undefined, other)).refusal, gone);
    assertRefused((await peer.rest("DELETE", path, undefined, other)).refusal, gone);
    bodyOf(await peer.rest("GET", path, undefined, { token: app.token }));
  });
});

describe("users of two instances who have the same id", () => {
  it("have codes of their own each", async () => {
    const instances = [{ token: app.token }, other];
    const addTo = async (nth: number, id: string) => {
      const address = `${id}-${nth}@person.test`;
      const person = {
        user_id: id,
        username: id,
        data: { given_name: "Ada", family_name: "King" },
        contact: { email: { address, return_code: {} } },
      };
      const made = await peer.rest("POST", "/resources/v3alpha/users", person, instances[nth]);
      return String(bodyOf(made, 201).email_code);
    };
    // In both orders: of two rows the first one of the table would always be right.
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const id = `the-same-id-${order.join("")}`;
      const codes = [await addTo(0, id), await addTo(1, id)];
      for (const nth of order) {
        const path = `/resources/v3alpha/users/${id}/email/_verify`;
        bodyOf(await peer.rest("POST", path, codes[nth], instances[nth]));
      }
    }
  });

  it("are active each for themselves, whatever becomes of the other", async () => {
    const instances = [{ token: app.token }, other];
    const id = "the-same-machine";
    const tokens: string[] = [];
    for (const option of instances) {
      const machine = { user_id: id, username: id, schema_id: "machine", data: { name: "Robot" } };
      bodyOf(await peer.rest("POST", "/resources/v3alpha/users", machine, option), 201);
      const path = `/resources/v3alpha/users/${id}/personal_access_tokens`;
      tokens.push(String(bodyOf(await peer.rest("POST", path, {}, option)).token));
    }
    const reads = async (nth: number) => {
      const option = { ...instances[nth], token: tokens[nth] ?? "" };
      return (await peer.rest("GET", `/resources/v3alpha/users/${id}`, undefined, option)).status;
    };
    const act = async (nth: number, what: string) =>
      bodyOf(
        await peer.rest(
          "POST",
          `/resources/v3alpha/users/${id}/${what}`,
          undefined,
          instances[nth],
        ),
      );
    for (const nth of [0, 1]) {
      await act(nth, "_deactivate");
      assert.deepEqual([await reads(nth), await reads(1 - nth)], [401, 200]);
      await act(nth, "_activate");
    }
  });
});
