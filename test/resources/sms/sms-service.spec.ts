// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { smsProviderOf } from "../../../src/resources/sms/index.ts";
import { addCaller } from "../../support/app.ts";
import { depsTold } from "../../support/deps.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const told = depsTold();
const service = await startPeer({ moreModules: [told.module] });
const { app, eventCount, get, patch, post, remove } = service;
after(() => service[Symbol.asyncDispose]());
const instanceId = app.made.instance_id;
const provider = () => smsProviderOf(told.deps())(instanceId);

const gateway = { sid: "AC1", token: "a secret", sender_number: "+15005550006" };
const { token: _, ...shown } = gateway;
const http = { url: "http://localhost:9999/sms" };
const [active, inactive] = ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"];
const notFound = { code: 5, reason: "SMS_PROVIDER_NOT_FOUND" };
const add = async (more: JsonObject = {}) => {
  const body = { ...gateway, description: uniqueName("sms"), ...more };
  return String(bodyOf(await post("/sms_providers", body), 201).details.id);
};
const read = async (id: string) => bodyOf(await get(`/sms_providers/${id}`)).sms_provider;
const turn = (id: string, action: string) => post(`/sms_providers/${id}/_${action}`);
const search = async (filters: JsonObject[] = [], query = "") =>
  bodyOf(await post(`/sms_providers/_search${query}`, filters)).result.map(
    ({ details }: { details: { id: string } }) => details.id,
  );
afterEach(async () => {
  for (const id of await search()) bodyOf(await remove(`/sms_providers/${id}`));
});

describe("a provider of text messages", () => {
  it("answers 201; it sends from then on, and is read without its token", async () => {
    const description = uniqueName("sms");
    const { details, ...rest } = bodyOf(
      await post("/sms_providers", { ...gateway, description }),
      201,
    );
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_INSTANCE", id: instanceId });
    assert.deepEqual(await read(details.id), {
      details,
      state: active,
      sms_provider: { description, ...shown, gateway_url: "" },
    });
    const used = await provider();
    assert.ok(used?.kind === "gateway");
    const { url, ...others } = used;
    assert.match(url, /^https:/);
    assert.deepEqual(others, {
      kind: "gateway",
      id: details.id,
      sid: "AC1",
      token: "a secret",
      senderNumber: "+15005550006",
    });
  });

  it("over HTTP shows the key that calls are signed with, once, and a new one on demand", async () => {
    const { details, signing_key } = bodyOf(await post("/sms_providers", { http }), 201);
    assert.match(signing_key, /^idsvc_sk_/);
    const seen = (await read(details.id)).sms_provider;
    assert.deepEqual(seen.http, http);
    const path = `/sms_providers/${details.id}`;
    const rotated = bodyOf(await patch(path, { rotate_signing_key: true })).signing_key;
    assert.notEqual(rotated, signing_key);
    const used = await provider();
    assert.ok(used?.kind === "http");
    assert.equal(used.url, http.url);
    assert.equal(Buffer.from(used.signingKey).toString(), rotated);
  });

  it("is one: created or activated last", async () => {
    const [one, two] = [await add(), await add()];
    assert.deepEqual([(await read(one)).state, (await read(two)).state], [inactive, active]);
    bodyOf(await turn(one, "activate"));
    assert.deepEqual([(await read(one)).state, (await read(two)).state], [active, inactive]);
    assert.equal((await provider())?.id, one);
    const again = { code: 9, reason: "SMS_PROVIDER_ACTIVE_ALREADY" };
    assertRefused((await turn(one, "activate")).refusal, again);
    const off = { code: 9, reason: "SMS_PROVIDER_INACTIVE_ALREADY" };
    assertRefused((await turn(two, "deactivate")).refusal, off);
    bodyOf(await turn(one, "deactivate"));
    assert.equal(await provider(), undefined);
    assert.deepEqual(await search([{ state: { state: inactive } }]), [two, one]);
  });

  it("is gone once it is deleted", async () => {
    const id = await add();
    bodyOf(await remove(`/sms_providers/${id}`));
    assert.equal(await provider(), undefined);
    for (const answer of [
      await get(`/sms_providers/${id}`),
      await patch(`/sms_providers/${id}`, {}),
      await remove(`/sms_providers/${id}`),
      await turn(id, "activate"),
      await turn(id, "deactivate"),
    ]) {
      assert.equal(answer.status, 404);
      assertRefused(answer.refusal, notFound);
    }
  });

  it("is patched field by field; a patch that changes nothing records nothing", async () => {
    const id = await add();
    const wanted = { description: "other", sid: "AC2", sender_number: "Example" };
    const { details } = bodyOf(await patch(`/sms_providers/${id}`, wanted));
    assert.deepEqual(await read(id), {
      details,
      state: active,
      sms_provider: { ...wanted, gateway_url: "" },
    });
    const before = await eventCount();
    assert.deepEqual(bodyOf(await patch(`/sms_providers/${id}`, wanted)), { details });
    assert.equal(await eventCount(), before);
  });

  it("D64: that would send the token elsewhere needs it anew", async () => {
    const id = await add();
    const gateway_url = "https://evil.test/api";
    const { refusal } = await patch(`/sms_providers/${id}`, { gateway_url });
    assertRefused(refusal, { code: 9, reason: "SMS_PROVIDER_TOKEN_REQUIRED" });
    assert.equal(refusal.metadata["field"], "sms_provider.gateway_url");
    bodyOf(await patch(`/sms_providers/${id}`, { gateway_url, token: "new" }));
    const used = await provider();
    assert.ok(used?.kind === "gateway");
    assert.deepEqual([used.url, used.token], [gateway_url, "new"]);
  });

  it("does not make a gateway of a service over HTTP, nor the other way round", async () => {
    const [one, web] = [
      await add(),
      String(bodyOf(await post("/sms_providers", { http }), 201).details.id),
    ];
    const fixed = { code: 9, reason: "SMS_PROVIDER_KIND_FIXED" };
    for (const [id, body] of [
      [one, { http }],
      [one, { rotate_signing_key: true }],
      [web, { sid: "AC1" }],
      [web, { token: "t" }],
    ] as const) {
      assertRefused((await patch(`/sms_providers/${id}`, body)).refusal, fixed);
    }
  });

  const refused: [string, JsonObject, string][] = [
    ["nothing to reach it by", {}, "sms_provider"],
    ["a gateway and a service", { ...gateway, http }, "sms_provider"],
    ["no token", { ...shown }, "sms_provider"],
    ["no sender", { sid: "AC1", token: "t" }, "sms_provider"],
    ["a URL that is none", { http: { url: "sms" } }, "sms_provider.http.url"],
    [
      "an address of the gateway that is none",
      { ...gateway, gateway_url: "x" },
      "sms_provider.gateway_url",
    ],
    [
      "a description of 201 characters",
      { ...gateway, description: "d".repeat(201) },
      "sms_provider.description",
    ],
  ];
  for (const [what, body, field] of refused) {
    it(`is refused with ${what}`, async () => {
      const { status, refusal } = await post("/sms_providers", body);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("is refused for addresses that the service must not call (X13)", async () => {
    const inner = "http://169.254.169.254/";
    for (const [body, field] of [
      [{ http: { url: inner } }, "sms_provider.http.url"],
      [{ ...gateway, gateway_url: inner }, "sms_provider.gateway_url"],
    ] as const) {
      const { refusal } = await post("/sms_providers", body);
      assertRefused(refusal, { code: 3, reason: "TARGET_URL_DENIED", field });
    }
  });

  it("is for members of the instance, in the instance alone", async () => {
    const id = await add();
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    bodyOf(await get(`/sms_providers/${id}`, viewer));
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    assertRefused((await patch(`/sms_providers/${id}`, {}, viewer)).refusal, missing);
    assertRefused((await post("/sms_providers", gateway, viewer)).refusal, missing);
    const headers = { "x-idsvc-orgid": app.made.organization_id };
    const named = await post("/sms_providers", gateway, { token: app.token, headers });
    assertRefused(named.refusal, { code: 3, reason: "CONTEXT_INVALID", field: "ctx" });
  });
});
