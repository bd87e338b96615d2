// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { client, fails, get, names } from "./egress.ts";
import { answering, certificateFor, type Peer, scriptedPeer } from "./scripted-peer.ts";

describe("TLS of an outgoing call", () => {
  const pair = certificateFor("right.test");
  const { resolver } = names({ "right.test": [["127.0.0.1"]], "wrong.test": [["127.0.0.1"]] });
  const secured = (): Promise<Peer> =>
    scriptedPeer(answering(["HTTP/1.1 200 OK"], "safe"), { tls: pair });

  it("is accepted for the name of the certificate alone", async () => {
    await using peer = await secured();
    const egress = client(["127.0.0.1"], resolver, [pair.cert]);
    const answer = await egress.call(get(`https://right.test:${peer.port}/`));
    assert.equal(Buffer.from(answer.body).toString(), "safe");
    const wrong = egress.call(get(`https://wrong.test:${peer.port}/`));
    await fails(wrong, "tls", "ERR_TLS_CERT_ALTNAME_INVALID");
    await fails(egress.call(get(`https://127.0.0.1:${peer.port}/`)), "tls");
    assert.equal(peer.requests.length, 1);
  });
  it("is refused from an authority that nobody trusts, whatever the environment says", async () => {
    await using peer = await secured();
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const egress = client(["127.0.0.1"], resolver);
      await fails(egress.call(get(`https://right.test:${peer.port}/`)), "tls");
    } finally {
      Reflect.deleteProperty(process.env, "NODE_TLS_REJECT_UNAUTHORIZED");
    }
    assert.equal(peer.requests.length, 0);
  });
  it("must be TLS: a peer that speaks in clear, or not at all, is a failure", async () => {
    await using silent = await scriptedPeer(() => {});
    const egress = client(["127.0.0.1"]);
    const call = (port: number) =>
      egress.call(get(`https://127.0.0.1:${port}/`, { timeoutMs: 300 }));
    await fails(call(silent.port), "timeout");
    const clear = net.createServer((socket) => {
      socket.on("error", () => {}).write("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    clear.listen(0, "127.0.0.1");
    await once(clear, "listening");
    await fails(call((clear.address() as AddressInfo).port), "tls");
    clear.close();
  });
});
