// Run: shared
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { startExecutorPeer, until } from "../executor/executor-peer.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { messageOf, pathOf, protocols } from "../support/protocols.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";

const peer = await startExecutorPeer();
const { receiver, app } = peer;
const { token } = app;
after(() => peer[Symbol.asyncDispose]());
afterEach(async () => {
  await peer.clear();
  receiver.calls.length = 0;
});

const { setPassword, addPersonalAccessToken, generateRecoveryCodes } = UserService.method;
const onSet = { request: { method: pathOf(setPassword) } };
const given = "the one that the owner gave";
const other = "the one that the target gave";

const add = async (body: JsonObject) => {
  const made = await peer.post("/users", { username: uniqueName("user"), ...body });
  return String(bodyOf(made, 201).details.id);
};
const addUser = () => add({ data: { given_name: "Ada" } });
const addMachine = () => add({ schema_id: "machine", data: { name: "Robot" } });
const logsIn = async (id: string, password: string) => {
  const checks = { user: { user_id: id }, password: { password } };
  return (await peer.post("/sessions", { checks })).status === 201;
};
// oxlint-disable-next-line no-explicit-any -- what a target is shown is for each test to know.
type Seen = any;
/** A target that answers with what it was shown, changed. */
const echo = (part: "request" | "response", change: (seen: Seen) => unknown = () => {}) => {
  const path = `/${uniqueName("echo").replaceAll(" ", "-")}`;
  receiver.each(path, ({ json }) => {
    const seen = json[part];
    return { json: change(seen) ?? seen };
  });
  return path;
};

describe("the request that a target is shown", () => {
  for (const protocol of protocols) {
    it(`has no secret over ${protocol}; where the answer has none it stays, a value replaces it`, async () => {
      const id = await addUser();
      const asked = {
        id,
        newPassword: { type: { case: "password" as const, value: given }, changeRequired: false },
      };
      const keeps = await peer.asker({ interrupt_on_error: true }, echo("request"));
      await peer.set(onSet, [keeps.id]);
      messageOf(await peer.peer.call(protocol, setPassword, asked, { token }));
      assert.ok(await logsIn(id, given));
      const [call] = receiver.calls;
      assert.ok(call !== undefined && !call.body.includes(given));
      assert.equal(call.json.request.id, id);
      assert.ok(!("password" in call.json.request.new_password));

      const replaces = await peer.asker(
        { interrupt_on_error: true },
        echo("request", (seen) => ({ ...seen, new_password: { password: other } })),
      );
      await peer.set(onSet, [replaces.id]);
      messageOf(await peer.peer.call(protocol, setPassword, asked, { token }));
      assert.ok(await logsIn(id, other));
    });
  }

  it("has no secret for the target after one that replaced it", async () => {
    const id = await addUser();
    const first = await peer.asker(
      { interrupt_on_error: true },
      echo("request", (seen) => ({ ...seen, new_password: { password: other } })),
    );
    const second = await peer.asker({ interrupt_on_error: true }, echo("request"));
    await peer.set(onSet, [first.id, second.id]);
    bodyOf(await peer.post(`/users/${id}/password`, { password: given }));
    assert.ok(await logsIn(id, other));
    assert.ok(receiver.calls.length === 2);
    for (const { body } of receiver.calls)
      assert.ok(!body.includes(given) && !body.includes(other));
  });
});

describe("the answer that a target is shown", () => {
  it("has no token; the caller gets it all the same, or what the target put there", async () => {
    const id = await addMachine();
    const on = { response: { method: pathOf(addPersonalAccessToken) } };
    const addToken = async () =>
      String(bodyOf(await peer.post(`/users/${id}/personal_access_tokens`, {})).token);
    const keeps = await peer.asker({ interrupt_on_error: true }, echo("response"));
    await peer.set(on, [keeps.id]);
    const made = await addToken();
    assert.equal((await peer.get(`/users/${id}`, { token: made })).status, 200);
    const [call] = receiver.calls;
    assert.ok(call !== undefined && !call.body.includes(made));
    assert.ok("token_id" in call.json.response && !("token" in call.json.response));

    const replaces = await peer.asker(
      {},
      echo("response", (seen) => ({ ...seen, token: "other" })),
    );
    await peer.set(on, [replaces.id]);
    assert.equal(await addToken(), "other");
  });

  it("has no list of codes", async () => {
    const id = await addUser();
    const { id: hook } = await peer.webhook();
    await peer.set({ response: { method: pathOf(generateRecoveryCodes) } }, [hook]);
    const { recovery_codes } = bodyOf(await peer.post(`/users/${id}/recovery_codes`));
    const [call] = receiver.calls;
    assert.ok(call !== undefined && recovery_codes.length > 0);
    for (const code of recovery_codes) assert.ok(!call.body.includes(code));
  });
});

describe("a target with payload_secrets", () => {
  const setOf = (id: string) => peer.post(`/users/${id}/password`, { password: given });
  const told = async () => {
    const id = await addUser();
    bodyOf(await setOf(id));
    const call = receiver.calls.at(-1);
    return call !== undefined && call.body.includes(given);
  };
  const secretsOf = async (id: string) =>
    bodyOf(await peer.get(`/targets/${id}`)).target.target.payload_secrets === true;

  it("is shown secrets, until its URL changes or it is taken back", async () => {
    const { id } = await peer.webhook({ payload_secrets: true });
    await peer.set(onSet, [id]);
    assert.ok((await secretsOf(id)) && (await told()));
    const patch = (body: JsonObject) => peer.patch(`/targets/${id}`, body);
    bodyOf(await patch({ name: uniqueName(), rest_webhook: { url: receiver.url("/hook") } }));
    assert.ok((await secretsOf(id)) && (await told()), "the same URL is no change");
    bodyOf(await patch({ rest_webhook: { url: receiver.url("/elsewhere") } }));
    assert.ok(!(await secretsOf(id)) && !(await told()));
    bodyOf(await patch({ rest_webhook: { url: receiver.url("/hook") }, payload_secrets: true }));
    assert.ok((await secretsOf(id)) && (await told()));
    bodyOf(await patch({ payload_secrets: false }));
    assert.ok(!(await secretsOf(id)) && !(await told()));
  });

  it("may answer without a secret, which takes it away", async () => {
    const id = await addUser();
    const path = echo("request", (seen) => ({ id: seen.id }));
    const asker = await peer.asker({ interrupt_on_error: true, payload_secrets: true }, path);
    await peer.set(onSet, [asker.id]);
    assertRefused(restRefusal(await setOf(id)), { code: 9, reason: "EXECUTION_FAILED" });
  });

  it("has its waiting deliveries made without secrets once its URL is another one", async () => {
    receiver.on("/slow", { status: 500 });
    const { id } = await peer.webhook({ is_async: true, payload_secrets: true }, "/slow");
    await peer.set(onSet, [id]);
    const userId = await addUser();
    bodyOf(await setOf(userId));
    const [first] = await until("the first attempt", () => {
      const calls = receiver.at("/slow");
      return calls.length > 0 && calls;
    });
    assert.ok(first?.body.includes(given));
    bodyOf(await peer.patch(`/targets/${id}`, { rest_webhook: { url: receiver.url("/later") } }));
    const again = await until("the next attempt", () => receiver.at("/later").at(0));
    assert.ok(!again.body.includes(given));
    assert.equal(again.json.request.id, userId);
  });
});

describe("deliveries that nobody waits for", () => {
  it("hold no secrets", async () => {
    const { id } = await peer.webhook({ is_async: true });
    await peer.set(onSet, [id]);
    const userId = await addUser();
    bodyOf(await peer.post(`/users/${userId}/password`, { password: given }));
    const call = await until("the delivery", () => receiver.at("/hook").at(0));
    assert.ok(!call.body.includes(given));
    assert.equal(call.json.request.id, userId);
  });
});

describe("events that targets are told", () => {
  it("hold no secrets, with payload_secrets neither", async () => {
    const { id } = await peer.webhook({ payload_secrets: true });
    await peer.set({ event: { group: "user" } }, [id]);
    const userId = await addUser();
    bodyOf(await peer.post(`/users/${userId}/password`, { password: given }));
    await until("the event", () =>
      receiver.calls.find(({ json }) => String(json.event_type).includes("password")),
    );
    for (const { body } of receiver.calls) assert.ok(!body.includes(given));
  });
});
