// Run: shared
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";
import { type ExecutorPeer, startExecutorPeer } from "./executor-peer.ts";
import { type Answer, type Receiver, startReceiver } from "./receiver.ts";

const method = `/${OrganizationService.typeName}/CreateOrganization`;
const interrupting = { interrupt_on_error: true };
const failed = { code: 9, reason: "EXECUTION_FAILED" };

describe("what a target answers", () => {
  let peer: ExecutorPeer;
  let canary: Receiver;
  before(async () => {
    peer = await startExecutorPeer();
    canary = await startReceiver();
  });
  after(async () => {
    await peer[Symbol.asyncDispose]();
    await canary[Symbol.asyncDispose]();
  });
  afterEach(() => peer.clear());
  const add = () => peer.post("/organizations", { name: uniqueName() });

  /** A call goes on without a target that answers so, and not with one that interrupts. */
  async function isError(answer: Answer, timeout = "1s") {
    const path = `/${uniqueName("hostile").replace(" ", "-")}`;
    peer.receiver.on(path, answer);
    await peer.set({ request: { method } }, [(await peer.asker({ timeout }, path)).id]);
    bodyOf(await add(), 201);
    const { id } = await peer.asker({ timeout, ...interrupting }, path);
    await peer.set({ request: { method } }, [id]);
    const begun = performance.now();
    assertRefused(restRefusal(await add()), failed);
    return performance.now() - begun;
  }

  for (const status of [301, 302, 307, 308]) {
    it(`D66: ${status} is not followed and counts as an error`, async () => {
      await isError({ status, headers: { location: canary.url("/inside") } });
      assert.equal(canary.connections, 0);
    });
  }

  const endless: Answer = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) {
        // It goes on for as long as anybody takes it.
      }
    };
    response.on("drain", more);
    more();
  };
  const slow: Answer = async (response) => {
    response.writeHead(200);
    while (!response.destroyed) {
      response.write(" ");
      await delay(100);
    }
  };
  const hostile: [string, Answer][] = [
    ["a body without an end", endless],
    [
      "a compressed bomb",
      { text: gzipSync(Buffer.alloc(32 << 20)), headers: { "content-encoding": "gzip" } },
    ],
    ["JSON of depth 100000", { text: "[".repeat(100_000) }],
    ["bytes that are no UTF-8", { text: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) }],
    ["a byte at a time", slow],
    ["nothing at all", () => {}],
    ["a reset", (response) => void response.socket?.resetAndDestroy()],
    ["HTML", { text: "<html><body>hello</body></html>" }],
    ["no HTTP", (response) => void response.socket?.end("garbage\r\n\r\n")],
    ["500", { status: 500 }],
    ["404", { status: 404 }],
  ];
  for (const [what, answer] of hostile) {
    it(`D67: ${what} ends at the timeout, and interrupt_on_error decides`, async () => {
      const ms = await isError(answer);
      // At its second, and not at the 30 of the call.
      assert.ok(ms < 25_000, `${ms} ms`);
    });
  }

  it("D67: 204 is a success without a change", async () => {
    peer.receiver.on("/204", { status: 204 });
    await peer.set({ request: { method } }, [(await peer.asker(interrupting, "/204")).id]);
    bodyOf(await add(), 201);
  });

  it("D67: of a webhook's answer only the status counts", async () => {
    for (const [path, answer] of [
      ["/huge", endless],
      ["/slow", slow],
      ["/html", { text: "<html>" }],
      ["/gzip", { text: "x", headers: { "content-encoding": "gzip" } }],
    ] as const) {
      peer.receiver.on(path, answer);
      await peer.set({ request: { method } }, [(await peer.webhook(interrupting, path)).id]);
      bodyOf(await add(), 201);
    }
  });

  it("D67: answers of many megabytes cost no memory", async () => {
    peer.receiver.on("/endless", endless);
    await peer.set({ request: { method } }, [(await peer.asker({}, "/endless")).id]);
    bodyOf(await add(), 201);
    const rss = process.memoryUsage().rss;
    for (let turn = 0; turn < 8; turn++) bodyOf(await add(), 201);
    const grown = (process.memoryUsage().rss - rss) / (1 << 20);
    assert.ok(grown < 32, `${grown} MiB`);
  });

  for (const [what, text] of [
    ["__proto__", '{"__proto__": {"polluted": true}, "organization": {"name": "x"}}'],
    [
      "constructor",
      '{"constructor": {"prototype": {"polluted": true}}, "organization": {"name": "x"}}',
    ],
    ["a key twice", '{"organization": {"name": "x"}, "organization": {"name": "y"}}'],
    [
      "permission fields",
      '{"organization": {"name": "x"}, "permissions": ["iam.write"], "roles": ["IAM_OWNER"]}',
    ],
    ["a wrong type", '{"organization": "x"}'],
    ["a number", "7"],
    ["null", "null"],
  ] as const) {
    it(`D68: an answer with ${what} is an error of the target`, async () => {
      await isError({ text });
      assert.equal(Reflect.get({}, "polluted"), undefined);
    });
  }

  it("F16: of 500 calls on a target that hangs few reach it and all are answered, others before them", async () => {
    const held: ServerResponse[] = [];
    let hangs = true;
    const reset = ({ socket }: ServerResponse) => socket?.resetAndDestroy();
    peer.receiver.on("/hang", (response) => void (hangs ? held.push(response) : reset(response)));
    const { id } = await peer.webhook({ timeout: "25s" }, "/hang");
    // A method that reads little, 25 calls each tenth of a second: of 500 in the same moment, the last wait longer for a connection of
    // PostgreSQL's pool than it lets anybody wait.
    const languages = "idsvc.settings.language.v3alpha.LanguageService";
    await peer.set({ request: { service: languages } }, [id]);
    const ask = () => peer.peer.rest("GET", "/settings/v3alpha/languages", undefined, peer.app);
    const earlier = peer.receiver.at("/hang").length;
    let answered = 0;
    const hung: ReturnType<typeof ask>[] = [];
    while (hung.length < 500) {
      const some = Array.from({ length: 25 }, () => ask().finally(() => (answered += 1)));
      hung.push(...some);
      await delay(100);
    }
    for (let turn = 0; turn < 10; turn++)
      bodyOf(await peer.get(`/organizations/${peer.app.made.organization_id}`));
    assert.ok(answered < 500, "others wait for none of those that hang");
    hangs = false;
    held.forEach(reset);
    // All of them go on in the same moment. Who is told that PostgreSQL has no connection for them tries again, as the refusal says.
    for (const answer of await Promise.all(hung)) {
      if (answer.status === 200) continue;
      assertRefused(answer.refusal, { code: 14, reason: "STORE_BUSY" });
      bodyOf(await ask());
    }
    const called = peer.receiver.at("/hang").length - earlier;
    assert.ok(called <= 128, `${called} of 500 reached the target`);
  });

  it("F16: the time of several targets is bounded by that of the call", async () => {
    const peer2 = await startExecutorPeer({ env: { IDSVC_CALL_TIMEOUT: "1500ms" } });
    try {
      peer2.receiver.on("/hang", () => {});
      const ids = [];
      for (let n = 0; n < 5; n++) ids.push((await peer2.webhook({ timeout: "1s" }, "/hang")).id);
      await peer2.set({ request: { method } }, ids);
      const events = await peer2.eventCount();
      const answer = await peer2.post("/organizations", { name: uniqueName() });
      assertRefused(restRefusal(answer), { code: 4, reason: "DEADLINE_EXCEEDED" });
      const called = peer2.receiver.at("/hang").length;
      assert.ok(called <= 2, `${called} of five had a second each`);
      await delay(1_500);
      assert.equal(await peer2.eventCount(), events, "nothing is done for who was told otherwise");
    } finally {
      await peer2[Symbol.asyncDispose]();
    }
  });
});

describe("D65: where a target may be", () => {
  it("is judged when it is made, and again at each call", async () => {
    const peer = await startExecutorPeer({
      env: { IDSVC_EGRESS_ALLOW: "" },
      resolver: {
        addresses: async (name) => (name === "inside.test" ? ["127.0.0.1"] : []),
        texts: async () => [],
      },
    });
    try {
      const { port } = peer.receiver;
      for (const url of [
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
      ].map((host) => `http://${host}:${port}/`)) {
        const answer = await peer.post("/targets", { name: uniqueName(), rest_webhook: { url } });
        const { code, reason } = restRefusal(answer);
        assert.equal(code, 3, url);
        assert.match(reason, /^(TARGET_URL_DENIED|VALIDATION_FAILED)$/, url);
      }
      for (const url of ["file:///etc/passwd", "ftp://a.test/", "gopher://a.test/"]) {
        const answer = await peer.post("/targets", { name: uniqueName(), rest_webhook: { url } });
        assert.equal(answer.status, 400, url);
      }
      const rest_webhook = { url: `http://inside.test:${port}/` };
      const { id } = await peer.webhook({ ...interrupting, rest_webhook });
      await peer.set({ request: { method } }, [id]);
      const answer = await peer.post("/organizations", { name: uniqueName() });
      assertRefused(restRefusal(answer), failed);
      assert.equal(peer.receiver.connections, 0);
    } finally {
      await peer[Symbol.asyncDispose]();
    }
  });
});
