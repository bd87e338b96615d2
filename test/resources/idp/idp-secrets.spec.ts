// Run: shared, store
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { startExecutorPeer, until } from "../../executor/executor-peer.ts";
import { bodyOf } from "../../support/peer.ts";
import { found } from "../../support/raw-store.ts";

const lines: string[] = [];
const peer = await startExecutorPeer({ log: (line) => void lines.push(line) });
const { get, patch, post, receiver, remove } = peer;
after(() => peer[Symbol.asyncDispose]());

// What the store and a backup of it hold is looked through in test/faults/secrets-at-rest.spec.ts.
it("D64: a secret of an identity provider is in no answer, event, webhook or line of the log", async () => {
  const secrets = ["MARKER-first-secret", "MARKER-second-secret"];
  const [client_secret = "", another = ""] = secrets;
  const targets = [(await peer.webhook({}, "/hook")).id];
  await peer.set({ event: { group: "instance.idp" } }, targets);
  // Targets of the calls that bring a secret see it: they may change the request (X6, X7).
  const service = "/idsvc.resources.idp.v3alpha.IdentityProviderService";
  await peer.set({ response: { method: `${service}/GetForgeBIDP` } }, targets);

  const config = { client_id: "MARKER-client", client_secret };
  const made = bodyOf(await post("/idps/forge_b", { config }), 201);
  const { id } = made.details;
  const answers: unknown[] = [made];
  answers.push(bodyOf(await patch(`/idps/forge_b/${id}`, { config: { client_secret: another } })));
  const refused = await patch(`/idps/forge_b/${id}`, {
    config: { client_secret: "x".repeat(201) },
  });
  assert.equal(refused.status, 400);
  answers.push(refused.json);
  answers.push(bodyOf(await get(`/idps/forge_b/${id}`)));
  answers.push(bodyOf(await post("/idps/_search", [{ id: { id } }])));
  answers.push(bodyOf(await remove(`/idps/${id}`)));
  const events = bodyOf(await post("/events/_search", [{ aggregate: { type: "idp", id } }]));
  assert.equal(events.result.length, 3);
  answers.push(events);
  const told = () => receiver.calls.filter(({ json }) => json.event_type?.includes(".idp."));
  await until("the webhooks of three events", () => told().length >= 3);
  const heard = receiver.calls.map(({ body }) => body);
  const ofCall = receiver.calls.filter(({ json }) => json.fullMethod?.includes("GetForgeBIDP"));
  assert.equal(ofCall.length, 1);

  const places = {
    answers: JSON.stringify(answers),
    webhooks: heard.join("\n"),
    log: lines.join("\n"),
  };
  for (const [place, text] of Object.entries(places)) {
    assert.deepEqual(found(Buffer.from(text), secrets), [], place);
  }
  // The scan would find them: what is no secret is there.
  assert.equal(found(Buffer.from(places.answers), ["MARKER-client"]).length, 1);
  assert.equal(found(Buffer.from(places.webhooks), ["MARKER-client"]).length, 1);
  assert.ok(places.log.includes("PatchForgeBIDP"));
});
