// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import { messageOf } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startActionPeer, uniqueName, url } from "./action-peer.ts";

const action = await startActionPeer();
const { app, get, post, patch, remove, addTarget, eventCount } = action;
after(() => action[Symbol.asyncDispose]());

const targetOf = async (id: string) => bodyOf(await get(`/targets/${id}`)).target;
const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const notFound = { code: 5, reason: "TARGET_NOT_FOUND" };
const taken = { code: 6, reason: "TARGET_NAME_TAKEN" };

describe("creating a target", () => {
  it("answers 201 with its details and its signing key", async () => {
    const name = uniqueName();
    const before = await eventCount();
    const answer = await post("/targets", { name, rest_webhook: { url } });
    const { details, signing_key: key, ...rest } = bodyOf(answer, 201);
    assert.deepEqual(rest, {});
    assert.match(details.id, /^\d{1,19}$/);
    assert.equal(details.sequence, String(before + 1));
    assert.ok(Math.abs(Date.parse(details.change_date) - Date.now()) < 10_000);
    const owner = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };
    assert.deepEqual(details.resource_owner, owner);
    assert.ok(key.length >= 32);
    assert.equal(await eventCount(), before + 1);
  });

  it("records target.added without the signing key", async () => {
    const name = uniqueName();
    const { details, signing_key: key } = bodyOf(
      await post("/targets", { name, rest_request_response: { url }, timeout: "1.5s" }),
      201,
    );
    const aggregate = { type: "target", id: details.id };
    const recorded = await app.kernel.events.read({ instanceId: app.made.instance_id, aggregate });
    const added = { name, kind: "rest_request_response", url, timeoutMs: 1500 };
    const choice = { isAsync: false, interruptOnError: false };
    assert.deepEqual(
      recorded.map(({ type, payload }) => ({ type, payload })),
      [{ type: "target.added", payload: { ...added, ...choice } }],
    );
    assert.equal(recorded[0]?.editorId, app.made.machine.user_id);
    const { details: same } = await targetOf(details.id);
    assert.deepEqual(same, details);
    const told = JSON.stringify([
      await targetOf(details.id),
      (await post("/targets/_search")).json,
    ]);
    assert.ok(!told.includes(key) && !told.includes("signing_key"));
  });

  it("gives it a timeout of 10 seconds and no choice of its effect, unless told", async () => {
    const name = uniqueName();
    const { target } = await targetOf(await addTarget({ name }));
    assert.deepEqual(target, { name, rest_webhook: { url }, timeout: "10s" });
  });

  const shown: [string, JsonObject, JsonObject][] = [
    ["is_async", { is_async: true }, { is_async: true }],
    ["interrupt_on_error", { interrupt_on_error: true }, { interrupt_on_error: true }],
    ["neither when it is switched off", { is_async: false }, {}],
    ["a timeout of less than a second", { timeout: "0.25s" }, { timeout: "0.250s" }],
    ["the longest timeout", { timeout: "270s" }, { timeout: "270s" }],
    ["names of 200 characters", { name: "n".repeat(200) }, { name: "n".repeat(200) }],
    ["either spelling of a field", { interruptOnError: true }, { interrupt_on_error: true }],
  ];
  for (const [what, sent, stored] of shown) {
    it(`keeps ${what}`, async () => {
      const { target } = await targetOf(await addTarget(sent));
      const { rest_webhook: _, name, timeout, ...choice } = target;
      assert.deepEqual(
        { name, timeout, ...choice },
        { name, timeout: "10s", ...stored, ...(stored["name"] ? {} : { name }) },
      );
    });
  }

  const hook = { rest_webhook: { url } };
  const withUrl = (text: string) => ({ name: "x", rest_webhook: { url: text } });
  const refused: [string, JsonObject, string][] = [
    ["without a name", { ...hook }, "target.name"],
    ["with an empty name", { ...hook, name: "" }, "target.name"],
    ["with a name of 201 characters", { ...hook, name: "n".repeat(201) }, "target.name"],
    ["without a kind", { name: "x" }, "target.target_type"],
    ["with a timeout of 0", { ...hook, name: "x", timeout: "0s" }, "target.timeout"],
    ["with a timeout below 0", { ...hook, name: "x", timeout: "-1s" }, "target.timeout"],
    ["with a timeout over 270 s", { ...hook, name: "x", timeout: "270.001s" }, "target.timeout"],
    ["without a url", { name: "x", rest_webhook: {} }, "target.rest_webhook.url"],
    ["with an empty url", withUrl(""), "target.rest_webhook.url"],
    [
      "with a url of 1001",
      withUrl(`${url}/${"u".repeat(1000 - url.length)}`),
      "target.rest_webhook.url",
    ],
    ["with a relative url", withUrl("/hook"), "target.rest_webhook.url"],
    ["with a url that is none", withUrl("http://a b"), "target.rest_webhook.url"],
    [
      "with a url of another scheme",
      { name: "x", rest_request_response: { url: "mailto:a@b.test" } },
      "target.rest_request_response.url",
    ],
  ];
  for (const [what, target, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/targets", target);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("takes a url of 1000 characters", async () => {
    const long = `${url}/${"u".repeat(999 - url.length)}`;
    const { target } = await targetOf(await addTarget({ rest_webhook: { url: long } }));
    assert.equal(target.rest_webhook.url, long);
  });

  it("is refused with both kinds, or with both effects", async () => {
    const kinds = { name: "x", rest_webhook: { url }, rest_request_response: { url } };
    const effects = { name: "x", ...hook, is_async: true, interrupt_on_error: true };
    for (const [body, field] of [
      [kinds, "target.rest_request_response"],
      [effects, "target.interrupt_on_error"],
    ] as const) {
      const { refusal } = await post("/targets", body);
      assertRefused(refusal, { code: 3, reason: "INVALID_JSON_FIELD", field });
    }
  });

  it("is refused without a body", async () => {
    assertRefused((await post("/targets")).refusal, invalid("target"));
  });

  it("is refused with 409 when the name is taken, in this or a like spelling", async () => {
    const name = `Straße ${uniqueName()}`;
    await addTarget({ name });
    const before = await eventCount();
    for (const like of [name, name.toUpperCase(), name.replace("ß", "ss")]) {
      const { status, refusal } = await post("/targets", { name: like, ...hook });
      assert.equal(status, 409);
      assertRefused(refusal, taken, like);
    }
    assert.equal(await eventCount(), before);
  });
});

describe("patching a target", () => {
  it("changes what is given and nothing else", async () => {
    const id = await addTarget({ timeout: "3s", is_async: true });
    const { target: earlier, details: first } = await targetOf(id);
    const { details, ...rest } = bodyOf(await patch(`/targets/${id}`, { timeout: "4s" }));
    assert.deepEqual(rest, {});
    assert.equal(Number(details.sequence), Number(first.sequence) + 1);
    assert.deepEqual(await targetOf(id), { details, target: { ...earlier, timeout: "4s" } });
  });

  it("records nothing when nothing differs, and answers the last change", async () => {
    const id = await addTarget({ timeout: "3s" });
    const { details, target } = await targetOf(id);
    const before = await eventCount();
    for (const body of [{}, target, { timeout: "3s" }, { timeout: "3.000s" }]) {
      assert.deepEqual(bodyOf(await patch(`/targets/${id}`, body)), { details });
    }
    assert.equal(await eventCount(), before);
  });

  it("replaces the kind, and the effect chosen before", async () => {
    const id = await addTarget({ is_async: true });
    const other = "https://hooks.example.com/b";
    const body = { rest_request_response: { url: other }, interrupt_on_error: true };
    bodyOf(await patch(`/targets/${id}`, body));
    const { name: _, ...target } = (await targetOf(id)).target;
    assert.deepEqual(target, { ...body, timeout: "10s" });
    bodyOf(await patch(`/targets/${id}`, { interrupt_on_error: false }));
    const { name: __, ...last } = (await targetOf(id)).target;
    assert.deepEqual(last, { rest_request_response: { url: other }, timeout: "10s" });
  });

  it("frees the old name and takes the new one", async () => {
    const [old, wanted] = [uniqueName(), uniqueName()];
    const id = await addTarget({ name: old });
    bodyOf(await patch(`/targets/${id}`, { name: wanted }));
    await addTarget({ name: old });
    assertRefused((await post("/targets", { name: wanted, rest_webhook: { url } })).refusal, taken);
  });

  it("may change the spelling of its own name, and not take another's", async () => {
    const [mine, other] = [uniqueName(), uniqueName()];
    const id = await addTarget({ name: mine });
    await addTarget({ name: other });
    bodyOf(await patch(`/targets/${id}`, { name: mine.toUpperCase() }));
    assert.equal((await targetOf(id)).target.name, mine.toUpperCase());
    const { status, refusal } = await patch(`/targets/${id}`, { name: other.toUpperCase() });
    assert.equal(status, 409);
    assertRefused(refusal, taken);
    assert.equal((await targetOf(id)).target.name, mine.toUpperCase());
  });

  it("shows a new signing key once when it is asked to rotate it", async () => {
    const { details, signing_key: old } = bodyOf(
      await post("/targets", { name: uniqueName(), rest_webhook: { url } }),
      201,
    );
    const path = `/targets/${details.id}`;
    const rotated = bodyOf(await patch(path, { rotate_signing_key: true }));
    assert.ok(rotated.signing_key.length >= 32);
    assert.notEqual(rotated.signing_key, old);
    assert.ok(Number(rotated.details.sequence) > Number(details.sequence));
    assert.deepEqual(Object.keys(bodyOf(await patch(path, { timeout: "9s" }))), ["details"]);
    assert.ok(!JSON.stringify(await targetOf(details.id)).includes(rotated.signing_key));
  });

  const refusals: [string, JsonObject, string][] = [
    ["an empty name", { name: "" }, "target.name"],
    ["a timeout over 270 s", { timeout: "271s" }, "target.timeout"],
    ["a kind without url", { rest_webhook: {} }, "target.rest_webhook.url"],
  ];
  for (const [what, body, field] of refusals) {
    it(`is refused with ${what}, and leaves the target as it is`, async () => {
      const id = await addTarget();
      const earlier = await targetOf(id);
      assertRefused((await patch(`/targets/${id}`, body)).refusal, invalid(field));
      assert.deepEqual(await targetOf(id), earlier);
    });
  }

  it("is refused with 404 for an unknown target", async () => {
    const { status, refusal } = await patch("/targets/404", { timeout: "1s" });
    assert.equal(status, 404);
    assertRefused(refusal, notFound);
  });

  it("is refused without a body", async () => {
    const { refusal } = await patch(`/targets/${await addTarget()}`);
    assertRefused(refusal, invalid("target"));
  });
});

describe("deleting a target", () => {
  it("answers the event that removed it; then it is gone and its name is free", async () => {
    const name = uniqueName();
    const id = await addTarget({ name });
    const before = await eventCount();
    const { details } = bodyOf(await remove(`/targets/${id}`));
    assert.deepEqual([details.id, details.sequence], [id, String(before + 1)]);
    for (const again of [await get(`/targets/${id}`), await remove(`/targets/${id}`)]) {
      assert.equal(again.status, 404);
      assertRefused(again.refusal, notFound);
    }
    const found = bodyOf(await post("/targets/_search", [{ in_ids: { ids: [id] } }]));
    assert.deepEqual(found.result, []);
    assert.notEqual(await addTarget({ name }), id);
  });

  it("takes it out of every execution that lists it", async () => {
    const [gone, kept] = [await addTarget(), await addTarget()];
    const mixed = { event: { event: "target.added" } };
    const alone = { event: { event: "target.removed" } };
    const ids = [
      await action.setExecution(mixed, { targets: [kept, gone] }),
      await action.setExecution(alone, { targets: [gone] }),
    ];
    bodyOf(await remove(`/targets/${gone}`));
    const filter = [{ in_conditions: { conditions: [mixed, alone] } }];
    const { result } = bodyOf(await post("/executions/_search?query.asc=true", filter));
    assert.deepEqual(
      result.map(({ details, execution }: { details: { id: string }; execution: JsonObject }) => [
        details.id,
        execution["targets"],
      ]),
      [
        [ids[0], [kept]],
        [ids[1], []],
      ],
    );
    const listing = bodyOf(await post("/executions/_search", [{ target: { id: gone } }]));
    assert.deepEqual(listing.result, []);
  });

  it("works over gRPC alike", async () => {
    const id = await addTarget();
    const { deleteTarget, getTarget } = ActionService.method;
    const options = { token: app.token };
    const { details } = messageOf(await action.peer.call("grpc", deleteTarget, { id }, options));
    assert.equal(details?.id, id);
    assertRefused(await action.peer.call("grpc", getTarget, { id }, options), notFound);
  });
});
