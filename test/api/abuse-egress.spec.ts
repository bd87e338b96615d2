// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { bodyOf, startActionPeer, uniqueName } from "../resources/action/action-peer.ts";
import { assertRefused, type Refusal } from "../support/refusal.ts";
import { unharmed } from "./abuse.ts";

// An empty list is a list: loopback is then as forbidden as everywhere but on localhost.
const action = await startActionPeer({ env: { IDSVC_EGRESS_ALLOW: "" } });
const { app, peer, get, post, patch } = action;
let connections = 0;
const canary = net.createServer((socket) => {
  connections += 1;
  socket.destroy();
});
canary.listen(0, "127.0.0.1");
await once(canary, "listening");
const { port } = canary.address() as AddressInfo;
after(async () => {
  canary.close();
  await action[Symbol.asyncDispose]();
});

const kinds = ["rest_webhook", "rest_request_response"] as const;
const safe = "https://hooks.example.com/in";
/** By the guard, or by the rule of the schema that it is an http or https URL. */
function assertDenied(refusal: Refusal | undefined, kind: string, url: string): void {
  const field = `target.${kind}.url`;
  const reason =
    refusal?.reason === "VALIDATION_FAILED" ? "VALIDATION_FAILED" : "TARGET_URL_DENIED";
  assertRefused(refusal, { code: 3, reason, field }, url);
}

const forbidden = [
  "127.0.0.1",
  "localhost",
  "[::1]",
  "0.0.0.0",
  "169.254.169.254",
  "10.0.0.1",
  "100.64.0.1",
  "2130706433",
  "0x7f.1",
  "127.1",
  "[::ffff:127.0.0.1]",
  "[64:ff9b::7f00:1]",
  // Of the same kind.
  "LOCALHOST",
  "localhost.",
  "a.localhost",
  "127.0.0.1.",
  "0177.0.0.1",
  "0x7f000001",
  "0",
  "172.16.0.1",
  "192.168.1.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "198.18.0.1",
  "[::]",
  "[fe80::1]",
  "[fd00::1]",
  "[ff02::1]",
  "[2002:7f00:1::]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[0:0:0:0:0:0:0:1]",
  "%31%32%37.0.0.1",
  "user@127.0.0.1",
].map((host) => `http://${host}:${port}/`);
const schemes = [
  "file:///etc/passwd",
  "ftp://ftp.example.com/",
  "gopher://example.com/",
  "http://example.com:25/",
  "https://example.com:22/",
  "http://user:secret@example.com/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "//example.com/",
  "http:/127.0.0.1/",
  "http://\\127.0.0.1/",
  "unix:/var/run/docker.sock",
];

describe("the address of a target", () => {
  for (const url of [...forbidden, ...schemes]) {
    it(`D65: is refused at create and patch: ${url.replace(String(port), "<port>")}`, () =>
      unharmed(action, async () => {
        for (const kind of kinds) {
          const answer = await post("/targets", { name: uniqueName(), [kind]: { url } });
          assert.equal(answer.status, 400);
          assertDenied(answer.refusal, kind, url);
          // Before the target is looked for: nobody learns which targets there are by guessing.
          assertDenied((await patch("/targets/404", { [kind]: { url } })).refusal, kind, url);
        }
        const target = {
          name: uniqueName(),
          targetType: { case: "restWebhook" as const, value: { url } },
        };
        const { createTarget, patchTarget } = ActionService.method;
        const options = { token: app.token };
        const created = await peer.call("grpc", createTarget, { target }, options);
        assert.ok(!created.ok);
        assertDenied(created, "rest_webhook", url);
        const patched = await peer.call("grpc", patchTarget, { id: "1", target }, options);
        assert.ok(!patched.ok);
        assertDenied(patched, "rest_webhook", url);
        assert.equal(connections, 0);
      }));
  }

  it("D65: is refused at patch of a target that has a safe one, which it keeps", async () => {
    const body = { name: uniqueName(), rest_webhook: { url: safe } };
    const { details } = bodyOf(await post("/targets", body), 201);
    await unharmed(action, async () => {
      const url = `http://127.0.0.1:${port}/`;
      const { refusal } = await patch(`/targets/${details.id}`, { rest_webhook: { url } });
      const field = "target.rest_webhook.url";
      assertRefused(refusal, { code: 3, reason: "TARGET_URL_DENIED", field });
      assert.deepEqual(refusal.metadata, { rule: "address", setting: "IDSVC_EGRESS_ALLOW" });
    });
    const { target } = bodyOf(await get(`/targets/${details.id}`)).target;
    assert.equal(target.rest_webhook.url, safe);
  });

  it("D65: says which rule is broken, and whether a setting can allow it", async () => {
    const setting = "IDSVC_EGRESS_ALLOW";
    const rules: [string, Record<string, string>][] = [
      ["http://10.0.0.1/", { rule: "address", setting }],
      ["http://example.com:25/", { rule: "port", setting }],
      ["http://user@example.com/", { rule: "userinfo" }],
    ];
    for (const [url, metadata] of rules) {
      const { refusal } = await post("/targets", { name: uniqueName(), rest_webhook: { url } });
      assertDenied(refusal, "rest_webhook", url);
      assert.deepEqual(refusal?.metadata, metadata);
    }
  });

  it("D65: may be what a configured list allows, and loopback then is not on it", async () => {
    await using other = await startActionPeer({ env: { IDSVC_EGRESS_ALLOW: "10.1.0.0/16" } });
    const create = (url: string) =>
      other.post("/targets", { name: uniqueName(), rest_webhook: { url } });
    bodyOf(await create("http://10.1.2.3:8080/"), 201);
    for (const url of ["http://10.2.0.1/", `http://127.0.0.1:${port}/`, "http://10.1.2.3:25/"]) {
      assertDenied((await create(url)).refusal, "rest_webhook", url);
    }
  });

  it("D65: may be loopback where the service is on localhost and no list is configured", async () => {
    await using other = await startActionPeer();
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      const rest_webhook = { url: `http://${host}:${port}/` };
      bodyOf(await other.post("/targets", { name: uniqueName(), rest_webhook }), 201);
    }
    const url = "http://169.254.169.254/latest/meta-data/";
    const { refusal } = await other.post("/targets", { name: uniqueName(), rest_webhook: { url } });
    assertDenied(refusal, "rest_webhook", url);
    assert.equal(connections, 0);
  });
});
