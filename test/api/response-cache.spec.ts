// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connectPeer, messageOf, type Peer, protocols } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";

const { createTarget, patchTarget, getTarget, deleteTarget } = ActionService.method;
let service: TestApp;
let peer: Peer;

before(async () => {
  service = await startTestApp();
  peer = connectPeer(service.port);
});
after(async () => {
  peer[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** Decisions C2: what was acknowledged is in every later answer, also where answers are kept. */
describe("an answer that is given again and again", () => {
  it("is new after each write, over every protocol, and gone with its object", async () => {
    const { token } = service;
    const target = {
      name: "first",
      targetType: { case: "restWebhook", value: { url: "https://a.example.com" } },
    } as const;
    const made = messageOf(
      await peer.call(
        "grpc",
        createTarget,
        { target: { ...target, timeout: { seconds: 1n } } },
        { token },
      ),
    );
    const id = String(made.details?.id);
    for (const [at, writing] of protocols.entries()) {
      const name = `name ${at}`;
      messageOf(await peer.call(writing, patchTarget, { id, target: { name } }, { token }));
      for (const reading of [...protocols, ...protocols]) {
        const told = messageOf(await peer.call(reading, getTarget, { id }, { token }));
        assert.equal(told.target?.target?.name, name, `${writing}, then ${reading}`);
      }
    }
    messageOf(await peer.call("rest", deleteTarget, { id }, { token }));
    for (const protocol of protocols) {
      const outcome = await peer.call(protocol, getTarget, { id }, { token });
      assertRefused(outcome, { code: 5, reason: "TARGET_NOT_FOUND" });
    }
  });

  it("tells settings as they are after each write", async () => {
    const { token } = service;
    const { setFeatures, resolveFeatures } = FeatureService.method;
    for (const on of [false, true, false, true]) {
      const settings = { oidcTokenExchange: { value: { case: "set" as const, value: on } } };
      messageOf(await peer.call("rest", setFeatures, { settings }, { token }));
      for (const protocol of [...protocols, ...protocols]) {
        const told = messageOf(await peer.call(protocol, resolveFeatures, {}, { token }));
        assert.equal(told.settings?.oidcTokenExchange?.value, on, protocol);
      }
    }
  });
});
