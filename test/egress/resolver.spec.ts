// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createEgressClient } from "../../src/egress/client.ts";
import { systemResolver } from "../../src/egress/resolver.ts";
import { parseEgressAllow } from "../../src/egress/url-guard.ts";
import { fails } from "./egress.ts";
import { answering, nameServer, scriptedPeer } from "./scripted-peer.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-resolver-"));
const hostsFile = join(folder, "hosts");
writeFileSync(hostsFile, "# names\n127.9.9.1 fixed.test other.test # here\n::1\tfixed.test\n");
const dns = await nameServer({
  "hang.test": "silent",
  "inside.test": { a: ["127.0.0.1"] },
  "two.test": { a: ["127.9.9.1", "127.9.9.2"] },
  "nothing.test": {},
  "late.test": { a: ["127.9.9.3"], aAfterMs: 50 },
  "_check.test": { txt: [["idsvc=", "1234"], ["v=spf1 -all"]] },
});
const resolver = systemResolver({ servers: [dns.address], hostsFile });
after(async () => {
  await dns[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const client = (allow: string[]) =>
  createEgressClient({ allow: parseEgressAllow(allow), resolver, userAgent: "idsvc/test" });
const soon = () => AbortSignal.timeout(60_000);

describe("resolving a host", () => {
  it("asks the name servers", async () =>
    assert.deepEqual(await resolver.addresses("two.test", soon()), ["127.9.9.1", "127.9.9.2"]));
  it("reads the hosts file before, and asks nobody then", async () => {
    assert.deepEqual(await resolver.addresses("Fixed.test.", soon()), ["127.9.9.1", "::1"]);
    assert.deepEqual(await resolver.addresses("other.test", soon()), ["127.9.9.1"]);
    assert.ok(!dns.asked.includes("fixed.test"));
  });
  it("knows localhost without asking anybody", async () => {
    assert.deepEqual(await resolver.addresses("localhost", soon()), ["127.0.0.1", "::1"]);
    assert.deepEqual(await resolver.addresses("a.Localhost.", soon()), ["127.0.0.1", "::1"]);
    assert.ok(!dns.asked.some((name) => /localhost/i.test(name)));
  });
  it("survives that one family is refused before the other is answered", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    assert.deepEqual(await resolver.addresses("late.test", soon()), ["127.9.9.3"]);
    process.off("unhandledRejection", note);
    assert.deepEqual(unhandled, []);
  });
  it("fails for a name that is not there, or has no address", async () => {
    await fails(resolver.addresses("missing.test", soon()), "dns", "ENOTFOUND");
    await fails(resolver.addresses("nothing.test", soon()), "dns", "ENODATA");
  });
});

describe("a call by name", () => {
  it("D65: is judged by the address that the name server gives", async () => {
    await using peer = await scriptedPeer(answering(["HTTP/1.1 200 OK"]));
    const call = {
      method: "GET",
      url: `http://inside.test:${peer.port}/`,
      timeoutMs: 60_000,
    } as const;
    await fails(client([]).call(call), "denied", "address");
    assert.equal(peer.connections, 0);
    assert.equal((await client(["127.0.0.1"]).call(call)).status, 200);
  });
  it("D67: ends in time though the name servers never answer", async () => {
    const call = { method: "GET", url: "http://hang.test/" } as const;
    let isOver = false;
    const longer = client([])
      .call({ ...call, timeoutMs: 2_000 })
      .catch(() => (isOver = true));
    await fails(client([]).call({ ...call, timeoutMs: 300 }), "timeout");
    assert.ok(!isOver, "one that may last longer does");
    await longer;
  });
  it("D67: is not held up by hanging lookups of others", async () => {
    await using peer = await scriptedPeer(answering(["HTTP/1.1 200 OK"]));
    const egress = client(["127.0.0.1"]);
    let ended = 0;
    const hanging = Array.from({ length: 50 }, () =>
      egress
        .call({ method: "GET", url: "http://hang.test/", timeoutMs: 3_000 })
        .catch(() => (ended += 1)),
    );
    const url = `http://inside.test:${peer.port}/`;
    assert.equal((await egress.call({ method: "GET", url, timeoutMs: 60_000 })).status, 200);
    assert.equal(ended, 0, "it is answered before any of them is given up");
    await Promise.all(hanging);
  });
  it("ends in time though a resolver ignores its signal", async () => {
    const deaf = { addresses: () => new Promise<string[]>(() => {}), texts: async () => [] };
    const egress = createEgressClient({
      allow: parseEgressAllow([]),
      resolver: deaf,
      userAgent: "idsvc/test",
    });
    await fails(egress.call({ method: "GET", url: "http://a.test/", timeoutMs: 100 }), "timeout");
  });
});

describe("reading TXT records", () => {
  it("joins the pieces of a record", async () =>
    assert.deepEqual((await client([]).texts("_check.test", { timeoutMs: 3_000 })).sort(), [
      "idsvc=1234",
      "v=spf1 -all",
    ]));
  it("finds none where the name or the type is not there", async () => {
    assert.deepEqual(await client([]).texts("missing.test", { timeoutMs: 3_000 }), []);
    assert.deepEqual(await client([]).texts("inside.test", { timeoutMs: 3_000 }), []);
  });
  it("fails when no server answers in time", async () => {
    await fails(client([]).texts("hang.test", { timeoutMs: 300 }), "timeout");
  });
});

describe("a connection for mail or a directory", () => {
  it("may use the ports of its protocol, to the same addresses as everything else", async () => {
    const smtp = [25, 465, 587];
    const limits = { timeoutMs: 2_000 };
    const inside = { host: "inside.test", port: 25, tls: false, ports: smtp };
    await fails(client([]).connect(inside, limits), "denied", "address");
    // Nobody listens there: the guard let it through.
    await fails(client(["127.0.0.1"]).connect(inside, limits), "connect", "ECONNREFUSED");
    await fails(client(["127.0.0.1"]).connect({ ...inside, ports: [] }, limits), "denied");
    for (const host of [
      "127.1",
      "0x7f.1",
      "2130706433",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "LOCALHOST.",
    ])
      await fails(client([]).connect({ ...inside, host }, limits), "denied", "address");
    await fails(client([]).connect({ ...inside, host: "a b" }, limits), "dns", "EBADNAME");
  });
  it("stays open after its time limit, for it is the caller's", async () => {
    await using peer = await scriptedPeer((socket) => void socket.write("pong"));
    const { port } = peer;
    const to = { host: "127.0.0.1", port, tls: false, ports: [] };
    const socket = await client(["127.0.0.1"]).connect(to, { timeoutMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 150));
    const heard = new Promise<string>((resolve) =>
      socket.once("data", (data) => resolve(data.toString())),
    );
    socket.write("ping\r\n\r\n");
    assert.equal(await heard, "pong");
    socket.destroy();
  });
});
