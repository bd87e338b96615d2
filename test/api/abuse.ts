import assert from "node:assert/strict";
import type { DescMethod } from "@bufbuild/protobuf";
import { addInstance, instance } from "../../src/resources/instance/index.ts";
import { addOrganization, organization } from "../../src/resources/org/index.ts";
import type { ActionPeer } from "../resources/action/action-peer.ts";
import { addCaller, type TestApp } from "../support/app.ts";
import { pathOf } from "../support/protocols.ts";
import { connectRefusal, grpcRefusal, type Refusal } from "../support/refusal.ts";
import { framed } from "../support/wire.ts";

/**
 * Runs what must be refused, and fails unless it leaves no event, nothing new on `Object.prototype` and a process that
 * still answers.
 */
export async function unharmed<T>({ eventCount }: ActionPeer, abuse: () => Promise<T>): Promise<T> {
  const inherited = Reflect.ownKeys(Object.prototype).length;
  const before = await eventCount();
  const result = await abuse();
  assert.equal(await eventCount(), before, "the number of events");
  assert.equal(Reflect.ownKeys(Object.prototype).length, inherited, "Object.prototype");
  return result;
}

/** The same JSON as the whole request of a method, over each protocol that reads JSON of its own. */
export async function refusalsOfJson(
  { peer, app }: ActionPeer,
  method: DescMethod,
  body: Uint8Array | string,
): Promise<[protocol: string, Refusal][]> {
  const post = (type: string, content: Uint8Array | string, version: 1 | 2 = 1) =>
    peer.send({
      version,
      path: pathOf(method),
      headers: { authorization: `Bearer ${app.token}`, "content-type": `application/${type}` },
      body: content,
    });
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const connect = await post("json", body);
  const grpc = await post("grpc+json", framed(bytes), 2);
  return [
    ["connect", connectRefusal(connect)],
    ["grpc+json", grpcRefusal(grpc.headers)],
  ];
}

/** A second instance in the same store, with a caller who owns it. */
export async function addSecondInstance(app: TestApp, domain: string) {
  const { kernel } = app;
  const ids = { instance: kernel.newId(), organization: kernel.newId() };
  const by = {
    instanceId: ids.instance,
    editorId: "test",
    service: "test",
    clientId: "",
    requestId: "test",
  };
  await kernel.events.transact(by, async (tx) => {
    tx.write(...kernel.secrets.createInstanceKeys(ids.instance, tx.now));
    const made = await tx.load(instance, ids.instance);
    const named = { name: domain, domains: [{ domain }], defaultLanguage: "en" };
    const owner = { type: "instance" as const, id: ids.instance };
    tx.record(instance, made, addInstance(made.state, named), owner);
    const home = await tx.load(organization, ids.organization);
    const called = { name: domain, domain: `home.${domain}` };
    tx.record(organization, home, addOrganization(home.state, called), {
      type: "org",
      id: ids.organization,
    });
  });
  const made = { ...app.made, instance_id: ids.instance, organization_id: ids.organization };
  const { token } = await addCaller({ kernel, made }, ["IAM_OWNER"]);
  return { ...ids, token, host: domain };
}
