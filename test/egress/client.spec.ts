// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { type HttpCall, longestAnswer } from "../../src/egress/client.ts";
import { EgressError } from "../../src/egress/error.ts";
import { client, fails, get, names } from "./egress.ts";
import { answering, type Script, scriptedPeer } from "./scripted-peer.ts";

/** What must never be reached: it listens on loopback, on every address of IPv4 and on the one of IPv6. */
const canary = await scriptedPeer(answering(["HTTP/1.1 200 OK"], "inside"), { host: "0.0.0.0" });
const canary6 = await scriptedPeer(answering(["HTTP/1.1 200 OK"]), {
  host: "::1",
  port: canary.port,
});
after(async () => {
  await canary[Symbol.asyncDispose]();
  await canary6[Symbol.asyncDispose]();
});

async function untouched(attack: () => Promise<void>): Promise<void> {
  await attack();
  assert.deepEqual([canary.connections, canary6.connections], [0, 0], "the canary was reached");
}

describe("the address of an outgoing call (D65)", () => {
  const literal = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "0177.0x0.0.1",
    "0x7f.0.0.01",
    "%31%32%37.0.0.1",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
    "127\u30020\u30020\u30021",
    "0",
    "0.0.0.0",
    "0x0",
    "00",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0:0::0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "100.64.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[fe80::1]",
    "[fc00::1]",
    "[ff02::1]",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
  ];
  for (const host of literal) {
    it(`D65: ${host} is denied before any connection`, () =>
      untouched(async () => {
        await fails(client([]).call(get(`http://${host}:${canary.port}/`)), "denied", "address");
        await fails(client([]).call(get(`https://${host}:${canary.port}/`)), "denied", "address");
      }));
  }

  for (const address of [
    "127.0.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "169.254.169.254",
    "10.1.2.3",
    "fe80::1%lo",
    "fd00::1",
    "::1%lo",
    "ff02::1",
    "127.0.0.1 ",
    "0x7f.1",
    "localhost",
    "",
    "not an address",
  ]) {
    it(`D65: a name that stands for "${address}" is denied`, () =>
      untouched(async () => {
        const { resolver } = names({ "evil.test": [[address]] });
        await fails(client([], resolver).call(get(`http://evil.test:${canary.port}/`)), "denied");
      }));
  }

  for (const [url, rule] of [
    ["file:///etc/passwd", "scheme"],
    ["ftp://evil.test/", "scheme"],
    ["gopher://evil.test:70/_GET", "scheme"],
    ["data:text/plain,x", "scheme"],
    ["unix:/var/run/docker.sock", "scheme"],
    ["http://user:secret@evil.test/", "userinfo"],
    ["//evil.test/", "syntax"],
    ["http://evil.test:25/", "port"],
    ["https://evil.test:22/", "port"],
    ["http://evil.test:0/", "port"],
  ] as const) {
    it(`D65: ${url} is denied for its ${rule}, and its name is not even looked up`, async () => {
      const { resolver, lookups } = names({ "evil.test": [["203.0.113.9"]] });
      const refused = client([], resolver).call(get(url));
      // A port can only be judged for good together with the address.
      await fails(refused, "denied", rule);
      assert.deepEqual(lookups, []);
    });
  }

  it("D65: the error names the host that was given, and not the address behind it", async () => {
    const { resolver } = names({ "evil.test": [["10.7.7.7"]] });
    const error = await client([], resolver)
      .call(get("http://evil.test/secret-path?token=1"))
      .catch((caught: unknown) => caught);
    assert.ok(error instanceof EgressError);
    const told = JSON.stringify([error.message, error.metadata, String(error.cause)]);
    assert.match(told, /evil\.test/);
    assert.doesNotMatch(told, /10\.7|secret-path|token/);
  });
});

describe("a name that answers differently each time (rebinding)", () => {
  it("is looked up once a call, and judged each time", async () => {
    // The same port on another loopback address: only the address tells friend from canary.
    await using friend = await scriptedPeer(answering(["HTTP/1.1 200 OK"], "hello"), {
      host: "127.9.9.9",
    });
    await using inside = await scriptedPeer(answering(["HTTP/1.1 200 OK"]), { port: friend.port });
    const { resolver, lookups } = names({
      "rebind.test": [["127.9.9.9"], ["127.0.0.1"], ["127.9.9.9"]],
    });
    const egress = client(["127.9.9.9"], resolver);
    const url = `http://rebind.test:${friend.port}/`;
    assert.equal(Buffer.from((await egress.call(get(url))).body).toString(), "hello");
    await fails(egress.call(get(url)), "denied", "address");
    assert.equal((await egress.call(get(url))).status, 200);
    assert.equal(lookups.length, 3);
    assert.deepEqual([friend.connections, inside.connections], [2, 0]);
  });
  it("is connected to at allowed addresses only, when it stands for several", async () => {
    await using friend = await scriptedPeer(answering(["HTTP/1.1 200 OK"]), { host: "127.9.9.9" });
    await using inside = await scriptedPeer(answering(["HTTP/1.1 200 OK"]), { port: friend.port });
    const { resolver } = names({ "two.test": [["127.0.0.1", "::1", "127.9.9.9"]] });
    const answer = await client(["127.9.9.9"], resolver).call(
      get(`http://two.test:${friend.port}`),
    );
    assert.equal(answer.status, 200);
    assert.equal(inside.connections, 0);
  });
  it("reaches the next address when one refuses", async () => {
    await using friend = await scriptedPeer(answering(["HTTP/1.1 200 OK"]), { host: "127.9.9.9" });
    const { resolver } = names({ "two.test": [["127.9.9.8", "127.9.9.9"]] });
    const answer = await client(["127.0.0.0/8"], resolver).call(
      get(`http://two.test:${friend.port}/`),
    );
    assert.equal(answer.status, 200);
  });
});

describe("allowing by configuration", () => {
  const ok = () => scriptedPeer(answering(["HTTP/1.1 200 OK"]));
  it("opens a network, a host or a port, and nothing beside", async () => {
    await using peer = await ok();
    const { resolver } = names({
      "hooks.internal": [["127.0.0.1"]],
      "other.test": [["127.0.0.1"]],
    });
    const call = (allow: string[], host: string) =>
      client(allow, resolver).call(get(`http://${host}:${peer.port}/`));
    for (const [allow, host] of [
      [["127.0.0.0/8"], "127.0.0.1"],
      [["127.0.0.0/8"], "[::ffff:127.0.0.1]"],
      [[`127.0.0.1:${peer.port}`], "other.test"],
      [["hooks.internal"], "hooks.internal"],
      [["hooks.internal"], "HOOKS.internal."],
      [["*.internal"], "hooks.internal"],
    ] as const)
      assert.equal((await call([...allow], host)).status, 200, `${allow[0]} ${host}`);
    for (const [allow, host] of [
      [["10.0.0.0/8"], "127.0.0.1"],
      [[`127.0.0.1:${peer.port + 1}`], "127.0.0.1"],
      [["hooks.internal"], "other.test"],
      [["hooks.internal"], "127.0.0.1"],
      [["127.0.0.0/8"], "[64:ff9b::7f00:1]"],
    ] as const)
      await fails(call([...allow], host), "denied", "address");
    assert.equal(peer.connections, 6);
  });
});

describe("the answer of an outgoing call", () => {
  const call = async (script: Script, more: Partial<HttpCall> = {}) => {
    await using peer = await scriptedPeer(script);
    return await client(["127.0.0.1"]).call(get(`http://127.0.0.1:${peer.port}/`, more));
  };

  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    it(`D66: ${status} is a failure, not a way to elsewhere`, () =>
      untouched(() =>
        fails(
          call(
            answering([
              `HTTP/1.1 ${status} Elsewhere`,
              `location: http://127.0.0.1:${canary.port}/`,
            ]),
          ),
          "redirect",
        ),
      ));
  }
  for (const status of [200, 204, 404, 500]) {
    it(`${status} is an answer`, async () =>
      assert.equal((await call(answering([`HTTP/1.1 ${status} X`]))).status, status));
  }
  it("D67: is read up to the limit and not a byte further", async () => {
    const body = (length: number) =>
      answering(["HTTP/1.1 200 OK", "connection: close"], Buffer.alloc(length));
    assert.equal((await call(body(longestAnswer))).body.length, longestAnswer);
    await fails(call(body(longestAnswer + 1)), "too_large");
    await fails(call(body(11), { maxBytes: 10 }), "too_large");
    await fails(call(answering(["HTTP/1.1 200 OK", "content-length: 2000000"])), "too_large");
  });
  it("D67: a gigabyte is cut off, not collected", async () => {
    let sent = 0;
    const endless: Script = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const piece = Buffer.alloc(256 * 1024);
      const more = () => {
        while (!socket.destroyed && sent < 1e9) {
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once("drain", more);
        }
      };
      more();
    };
    const before = process.memoryUsage().rss;
    await fails(call(endless), "too_large");
    assert.ok(sent < 32e6, `${sent} bytes were sent`);
    assert.ok(process.memoryUsage().rss - before < 32e6);
  });
  it("D67: compressed bodies are refused, so that no bomb is opened", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    for (const header of [
      "content-encoding: gzip",
      "content-encoding: br",
      "transfer-encoding: gzip",
    ])
      await fails(call(answering(["HTTP/1.1 200 OK", header], bomb)), "encoding");
    const plain = answering(["HTTP/1.1 200 OK", "content-encoding: identity"], "text");
    assert.equal(Buffer.from((await call(plain)).body).toString(), "text");
  });
  it("D67: silence, one byte a second or a body without end lasts no longer than the limit", async () => {
    const drip: Script = (socket) => {
      const timer = setInterval(() => socket.write("H"), 50);
      socket.on("close", () => clearInterval(timer));
    };
    const dripBody: Script = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
      drip(socket, "");
    };
    const early: Script = (socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    };
    for (const script of [() => {}, drip, dripBody, early]) {
      let isOver = false;
      const longer = call(() => {}, { timeoutMs: 1_500 }).catch(() => (isOver = true));
      await fails(call(script, { timeoutMs: 300 }), script === drip ? "protocol" : "timeout");
      assert.ok(!isOver, "one that may last longer does");
      await longer;
    }
    await fails(call(dripBody, { timeoutMs: 200 }), "timeout");
    await fails(
      call(() => {}, { timeoutMs: 200 }),
      "timeout",
    );
  });
  it("D67: what is no HTTP, is cut off or switches protocols is a failure", async () => {
    await fails(
      call((socket) => void socket.end("SSH-2.0-x\r\n\r\n")),
      "protocol",
    );
    await fails(
      call((socket) => void socket.resetAndDestroy()),
      "protocol",
      "ECONNRESET",
    );
    await fails(
      call((socket) => void socket.end()),
      "protocol",
    );
    await fails(call(answering(["HTTP/1.1 200 OK", "content-length: 9"], "short")), "protocol");
    await fails(
      call(answering(["HTTP/1.1 200 OK", "content-length: 1", "content-length: 2"], "ab")),
      "protocol",
    );
    const upgrade = answering(["HTTP/1.1 101 Go", "connection: upgrade", "upgrade: websocket"]);
    await fails(call(upgrade), "protocol");
    const header = `x: ${"y".repeat(20_000)}`;
    await fails(call(answering(["HTTP/1.1 200 OK", header])), "too_large");
  });
  it("tells a caller who gave up from one who ran out of time", async () => {
    const left = new AbortController();
    setTimeout(() => left.abort(), 50);
    await fails(
      call(() => {}, { signal: left.signal }),
      "cancelled",
    );
    await fails(
      call(() => {}, { signal: AbortSignal.abort() }),
      "cancelled",
    );
  });
});

describe("the request of an outgoing call", () => {
  it("says who calls and carries the body, but no cookie and nothing that was not given", async () => {
    const setsCookie = answering(["HTTP/1.1 200 OK", "set-cookie: a=b"]);
    await using peer = await scriptedPeer(setsCookie);
    const egress = client(["127.0.0.1"]);
    const url = `http://127.0.0.1:${peer.port}/hook?a=b`;
    const sent = { method: "POST" as const, url, body: "{}", timeoutMs: 5_000 };
    await egress.call({ ...sent, headers: { "content-type": "application/json", host: "evil" } });
    await egress.call(sent);
    const [head = "", body] = peer.requests[0]?.split("\r\n\r\n") ?? [];
    const [line, ...fields] = head.toLowerCase().split("\r\n");
    assert.equal(line, "post /hook?a=b http/1.1");
    assert.deepEqual(fields.sort(), [
      "accept-encoding: identity",
      "connection: close",
      "content-length: 2",
      "content-type: application/json",
      `host: 127.0.0.1:${peer.port}`,
      "user-agent: idsvc/test",
    ]);
    assert.equal(body, "{}");
    assert.doesNotMatch(peer.requests[1] ?? "", /cookie/i);
  });
  it("goes through no proxy that the environment names", () =>
    untouched(async () => {
      await using peer = await scriptedPeer(answering(["HTTP/1.1 200 OK"]));
      const proxy = `http://127.0.0.1:${canary.port}`;
      const environment = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy };
      Object.assign(process.env, environment);
      try {
        const answer = await client(["127.0.0.1"]).call(get(`http://127.0.0.1:${peer.port}/`));
        assert.equal(answer.status, 200);
      } finally {
        for (const name of Object.keys(environment)) Reflect.deleteProperty(process.env, name);
      }
    }));
});
