// Run: shared
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { type MessageSink, startMessageSink } from "../support/message-sink.ts";
import { noticesSent } from "../support/notices.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";

let peer: OidcPeer;
let sink: MessageSink;
const lines: string[] = [];

before(async () => {
  sink = await startMessageSink();
  peer = await startOidc({ log: (line) => lines.push(line) });
});
after(async () => {
  await peer[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await noticesSent(peer.app);
  sink.posts.length = 0;
  sink.answers(200);
});

const newAddress = () => `${uniqueName("mail").replace(" ", "")}@example.test`;
let numbers = 41_790_000_000;
const newNumber = () => `+${(numbers += 1)}`;

/** A new provider, which is in force from now on, and its signing key. */
async function activate(kind: "smtp" | "sms", provider: object): Promise<string | undefined> {
  return bodyOf(await peer.post(`/${kind}_providers`, { ...provider }), 201).signing_key;
}

const personAt = (email: string, phone = newNumber()) =>
  peer.addPerson({
    contact: {
      email: { address: email, is_verified: true },
      phone: { number: phone, is_verified: true },
    },
  });

function assertSigned({ headers, body }: MessageSink["posts"][number], key: string): void {
  const [, at = "", mac] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["idsvc-signature"])) ?? [];
  const right = createHmac("sha256", key).update(`${at}.${body}`).digest("hex");
  assert.equal(mac, right);
  assert.ok(Math.abs(Number(at) * 1000 - peer.now().getTime()) < 60_000);
}

describe("a mail gateway", () => {
  let key: string;
  before(async () => {
    const sender = { sender_address: "no-reply@acme.test", sender_name: "Acme" };
    key = (await activate("smtp", { ...sender, http: { url: `${sink.url}/mail` } })) ?? "";
  });

  it("gets the message as JSON, signed like a target", async () => {
    const address = newAddress();
    const id = await personAt(address);
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
    await sink.count(1);
    const [posted] = sink.posts;
    assert.ok(posted !== undefined);
    assert.equal(posted.path, "/mail");
    assertSigned(posted, key);
    const { channel, to, subject, text, html, sender } = JSON.parse(posted.body);
    assert.deepEqual([channel, to, subject], ["email", address, "Set a new password"]);
    assert.deepEqual(sender, { address: "no-reply@acme.test", name: "Acme" });
    const [, code = ""] = /Code: (\w+)/.exec(text) ?? [];
    assert.ok(html.includes(code));
    const verified = { password: "completely different words", verification_code: code };
    bodyOf(await peer.post(`/users/${id}/password`, verified));
  });

  it("is asked again with the same IDSVC-Delivery after 503, and with a new code, of which the last counts (F18)", async () => {
    sink.answers(503);
    const id = await personAt(newAddress());
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
    await sink.count(1);
    sink.answers(200);
    peer.pass(60_000);
    await noticesSent(peer.app);
    const deliveries = new Set(sink.posts.map(({ headers }) => headers["idsvc-delivery"]));
    assert.equal(deliveries.size, 1);
    const codes = sink.posts.map(
      ({ body }) => /Code: (\w+)/.exec(JSON.parse(body).text)?.[1] ?? "",
    );
    const set = (verification_code = "") =>
      peer.post(`/users/${id}/password`, { password: "other words altogether", verification_code });
    const { status, refusal } = await set(codes[0]);
    assert.deepEqual([status, refusal?.reason], [400, "CODE_INVALID"]);
    bodyOf(await set(codes.at(-1)));
  });

  it("that refuses a message for good (4xx) is not asked again; the log names neither person nor code", async () => {
    sink.answers(422);
    const address = newAddress();
    const id = await personAt(address);
    lines.length = 0;
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
    await sink.count(1);
    await noticesSent(peer.app);
    peer.pass(3_600_000);
    assert.equal(sink.posts.length, 1);
    const told = lines.filter((line) => line.includes("refused for good"));
    assert.equal(told.length, 1);
    const code = /Code: (\w+)/.exec(JSON.parse(sink.posts[0]?.body ?? "{}").text)?.[1] ?? "";
    for (const secret of [address, code]) {
      assert.ok(!lines.some((line) => line.includes(secret)), secret);
    }
  });

  it("is tried by _test, which tells at once what went wrong", async () => {
    const { result } = bodyOf(await peer.post("/smtp_providers/_search"));
    const test = `/smtp_providers/${result[0].details.id}/_test`;
    const receiver_address = newAddress();
    bodyOf(await peer.post(test, { receiver_address }));
    assert.equal(JSON.parse(sink.posts[0]?.body ?? "").to, receiver_address);
    for (const [status, code, reason] of [
      [500, 503, "MESSAGE_DELAYED"],
      [408, 503, "MESSAGE_DELAYED"],
      [429, 503, "MESSAGE_DELAYED"],
      [404, 400, "MESSAGE_REFUSED"],
    ] as const) {
      sink.answers(status);
      const refused = await peer.post(test, { receiver_address });
      assert.equal(refused.refusal?.reason, reason);
      assert.equal(refused.status, code);
    }
  });
});

describe("messages to phones", () => {
  const otpTo = async (number: string) => {
    const id = await peer.addPerson();
    bodyOf(await peer.post(`/users/${id}/otp_sms`, { number, is_verified: true }));
    const challenges = { otp_sms: {} };
    const checks = { user: { user_id: id } };
    return bodyOf(await peer.post("/sessions", { checks, challenges }), 201);
  };

  it("leave by a signed HTTP provider", async () => {
    const key = await activate("sms", { description: "ours", http: { url: `${sink.url}/sms` } });
    const number = newNumber();
    await otpTo(number);
    await sink.count(1);
    const [posted] = sink.posts;
    assert.ok(posted !== undefined);
    assertSigned(posted, key ?? "");
    const { channel, to, text } = JSON.parse(posted.body);
    assert.deepEqual([channel, to], ["sms", number]);
    assert.match(text, /^\d{8} /);
  });

  it("leave by a gateway, whose code then logs in; it replaced the provider before", async () => {
    await activate("sms", {
      sid: "AC/1",
      token: "secret of the gateway",
      sender_number: "+41800000000",
      gateway_url: `${sink.url}/2010-04-01`,
    });
    const number = newNumber();
    const session = await otpTo(number);
    await sink.count(1);
    const [posted] = sink.posts;
    assert.equal(posted?.path, "/2010-04-01/Accounts/AC%2F1/Messages.json");
    const basic = Buffer.from("AC/1:secret of the gateway").toString("base64");
    assert.equal(posted?.headers["authorization"], `Basic ${basic}`);
    const form = new URLSearchParams(posted?.body);
    assert.deepEqual([form.get("To"), form.get("From")], [number, "+41800000000"]);
    const code = form.get("Body")?.slice(0, 8) ?? "";
    const patched = await peer.patch(`/sessions/${session.details.id}`, {
      checks: { otp_sms: { code } },
    });
    bodyOf(patched);
  });
});
