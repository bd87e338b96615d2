// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addCaller } from "../../support/app.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { inSystem, server, startSmtpPeer } from "./smtp-peer.ts";

const service = await startSmtpPeer();
const { add, app, create, eventCount, get, instance, patch, post, provider } = service;
const { read, remove, turn } = service;
after(() => service[Symbol.asyncDispose]());
afterEach(() => service.clear());

const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const notFound = { code: 5, reason: "SMTP_PROVIDER_NOT_FOUND" };
const [active, inactive] = ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"];
const http = { url: "http://localhost:9999/mail" };
const { password: _, ...shown } = server;
const ids = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);
const search = async (filters: JsonObject[] = [], query = "") =>
  bodyOf(await post(`/smtp_providers/_search${query}`, filters));

describe("creating a provider of mails", () => {
  it("answers 201; it sends from then on, and is read without its password", async () => {
    const description = uniqueName("mail");
    const { details, ...rest } = bodyOf(await create({ ...server, description }), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, instance);
    assert.deepEqual(await read(details.id), {
      details,
      state: active,
      smtp_provider: {
        description,
        ...shown,
        reply_to_address: "",
        state_policy: "STATE_POLICY_INHERIT",
      },
    });
    assert.deepEqual(await provider(), {
      kind: "smtp",
      id: details.id,
      host: "mail.example.com",
      port: 587,
      tls: true,
      user: "idsvc",
      password: "a secret",
      sender: { address: "idsvc@example.com", name: "Example" },
      replyTo: "",
    });
  });

  it("of a service over HTTP shows the key that calls are signed with, once", async () => {
    const { details, signing_key } = bodyOf(await create({ http }), 201);
    assert.match(signing_key, /^idsvc_sk_/);
    const { smtp_provider } = await read(details.id);
    assert.deepEqual(smtp_provider.http, http);
    const used = await provider();
    assert.ok(used?.kind === "http");
    assert.equal(used.url, http.url);
    assert.equal(Buffer.from(used.signingKey).toString(), signing_key);
    const more = { sender_address: "a@example.com", rotate_signing_key: true };
    const rotated = bodyOf(await patch(`/smtp_providers/${details.id}`, more));
    assert.notEqual(rotated.signing_key, signing_key);
    const now = await provider();
    assert.ok(now?.kind === "http");
    assert.equal(Buffer.from(now.signingKey).toString(), rotated.signing_key);
    assert.deepEqual(now.sender, { address: "a@example.com", name: "" });
  });

  it("takes mail servers by name, by address and by IPv6 address", async () => {
    const { user: __, password: ___, ...open } = server;
    for (const [host, name, port] of [
      ["mail.example.com:25", "mail.example.com", 25],
      ["192.0.2.1:465", "192.0.2.1", 465],
      ["[2001:db8::1]:2525", "2001:db8::1", 2525],
    ] as const) {
      const { details } = bodyOf(await create({ ...open, host }), 201);
      const used = await provider();
      assert.ok(used?.kind === "smtp");
      assert.deepEqual([used.host, used.port, used.user, used.password], [name, port, "", ""]);
      assert.equal((await read(details.id)).smtp_provider.host, host);
    }
  });

  const refused: [string, JsonObject, string][] = [
    ["with neither host nor http", { description: "x" }, "smtp_provider"],
    ["with both host and http", { ...server, http }, "smtp_provider"],
    ["without a sender", { host: "mail.example.com:25" }, "smtp_provider"],
    ["with a user without password", { ...shown }, "smtp_provider"],
    ["with a password without user", { ...server, user: "" }, "smtp_provider"],
    ["with a host without port", { ...server, host: "mail.example.com" }, "smtp_provider.host"],
    [
      "with a port that is none",
      { ...server, host: "mail.example.com:99999" },
      "smtp_provider.host",
    ],
    [
      "with a sender that is no address",
      { ...server, sender_address: "me" },
      "smtp_provider.sender_address",
    ],
    [
      "with a line break in the name of the sender",
      { ...server, sender_name: "a\r\nBcc: b" },
      "smtp_provider.sender_name",
    ],
    ["with a URL that is none", { http: { url: "mail" } }, "smtp_provider.http.url"],
    [
      "with a description of 201 characters",
      { ...server, description: "d".repeat(201) },
      "smtp_provider.description",
    ],
    ["with an unknown policy", { ...server, state_policy: 9 }, "smtp_provider.state_policy"],
  ];
  for (const [what, body, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await create(body);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused for a URL that the service must not call (X13)", async () => {
    const { refusal } = await create({ http: { url: "http://169.254.169.254/mail" } });
    const field = "smtp_provider.http.url";
    assertRefused(refusal, { code: 3, reason: "TARGET_URL_DENIED", field });
  });
});

describe("patching a provider of mails", () => {
  it("changes what is given, and records nothing when nothing differs", async () => {
    const id = await add();
    const wanted = { description: "other", reply_to_address: "re@example.com", sender_name: "" };
    const { details } = bodyOf(await patch(`/smtp_providers/${id}`, wanted));
    const seen = await read(id);
    assert.deepEqual(seen.details, details);
    assert.deepEqual(seen.smtp_provider, {
      ...shown,
      ...wanted,
      state_policy: "STATE_POLICY_INHERIT",
    });
    const before = await eventCount();
    for (const same of [wanted, {}, { host: server.host, tls: true, user: server.user }]) {
      assert.deepEqual(bodyOf(await patch(`/smtp_providers/${id}`, same)), { details });
    }
    assert.equal(await eventCount(), before);
    bodyOf(await patch(`/smtp_providers/${id}`, { reply_to_address: "" }));
    assert.equal((await read(id)).smtp_provider.reply_to_address, "");
  });

  it("D64: that would send the password elsewhere, or in clear, needs it anew", async () => {
    const id = await add();
    for (const [field, move] of [
      ["host", { host: "evil.test:587" }],
      ["host", { host: "mail.example.com:2525" }],
      ["tls", { tls: false }],
    ] as const) {
      const { refusal } = await patch(`/smtp_providers/${id}`, move);
      assertRefused(refusal, { code: 9, reason: "SMTP_PROVIDER_PASSWORD_REQUIRED" });
      assert.equal(refusal.metadata["field"], `smtp_provider.${field}`);
    }
    bodyOf(await patch(`/smtp_providers/${id}`, { host: "new.test:587", password: "new" }));
    const used = await provider();
    assert.ok(used?.kind === "smtp");
    assert.deepEqual([used.host, used.password], ["new.test", "new"]);
  });

  it("forgets the password with the user, and takes a user only with a password", async () => {
    const id = await add();
    bodyOf(await patch(`/smtp_providers/${id}`, { user: "" }));
    const used = await provider();
    assert.ok(used?.kind === "smtp");
    assert.deepEqual([used.user, used.password], ["", ""]);
    bodyOf(await patch(`/smtp_providers/${id}`, { host: "elsewhere.test:587" }));
    const named = await patch(`/smtp_providers/${id}`, { user: "again" });
    assertRefused(named.refusal, { code: 9, reason: "SMTP_PROVIDER_PASSWORD_REQUIRED" });
    const alone = await patch(`/smtp_providers/${id}`, { password: "again" });
    assertRefused(alone.refusal, { code: 9, reason: "SMTP_PROVIDER_USER_REQUIRED" });
    bodyOf(await patch(`/smtp_providers/${id}`, { user: "again", password: "again" }));
  });

  it("does not make a mail server of a service over HTTP, nor the other way round", async () => {
    const [mail, web] = [await add(), String(bodyOf(await create({ http }), 201).details.id)];
    const fixed = { code: 9, reason: "SMTP_PROVIDER_KIND_FIXED" };
    for (const [id, body] of [
      [mail, { http }],
      [mail, { rotate_signing_key: true }],
      [web, { host: "mail.example.com:25" }],
      [web, { tls: false }],
      [web, { user: "u", password: "p" }],
    ] as const) {
      assertRefused((await patch(`/smtp_providers/${id}`, body)).refusal, fixed);
    }
  });

  const refused: [string, JsonObject, string][] = [
    ["to a host without port", { host: "mail" }, "smtp_provider.host"],
    ["to an empty sender", { sender_address: "" }, "smtp_provider.sender_address"],
    ["to answers that go nowhere", { reply_to_address: "me" }, "smtp_provider.reply_to_address"],
    ["to an empty password", { password: "" }, "smtp_provider.password"],
  ];
  for (const [what, body, field] of refused) {
    it(`is refused ${what}`, async () => {
      const { refusal } = await patch(`/smtp_providers/${await add()}`, body);
      assertRefused(refusal, invalid(field));
    });
  }
});

describe("who may see and change providers of mails", () => {
  it("are members of the instance, and of the system system callers", async () => {
    const id = await add();
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    bodyOf(await get(`/smtp_providers/${id}`, viewer));
    const nobody = await addCaller(app, ["IAM_USER_MANAGER"]);
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    for (const answer of [
      await patch(`/smtp_providers/${id}`, {}, viewer),
      await remove(`/smtp_providers/${id}`, viewer),
      await post(`/smtp_providers/${id}/_activate`, undefined, viewer),
      await post(`/smtp_providers/${id}/_test`, { receiver_address: "a@example.com" }, viewer),
      await post("/smtp_providers", server, viewer),
      await post(`/smtp_providers${inSystem}`, server),
      await get(
        `/smtp_providers/${id}`,
        await service.addMember(app.made.organization_id, ["ORG_OWNER"]),
      ),
      await post("/smtp_providers", server, nobody),
    ]) {
      assert.equal(answer.status, 403);
      assertRefused(answer.refusal, missing);
    }
  });

  it("is the instance or the system: an organization is code 3", async () => {
    const invalidContext = { code: 3, reason: "CONTEXT_INVALID", field: "ctx" };
    const inOrganization = `?ctx.org_id=${app.made.organization_id}`;
    assertRefused((await post(`/smtp_providers${inOrganization}`, server)).refusal, invalidContext);
    assertRefused(
      (await post(`/smtp_providers/_search${inOrganization}`, [])).refusal,
      invalidContext,
    );
  });
});

describe("searching providers of mails", () => {
  it("filters by id, description and state, sorts and pages", async () => {
    const tag = uniqueName("Sorted");
    const found: string[] = [];
    for (const letter of ["b", "c", "a"])
      found.push(await add({ description: `${tag} ${letter}` }));
    const [b, c, a] = found as [string, string, string];
    assert.deepEqual(ids(await search()), [a, c, b]);
    const byText = "?sorting_column=SMTP_PROVIDER_FIELD_NAME_DESCRIPTION&query.asc=true";
    assert.deepEqual(ids(await search([], byText)), [a, b, c]);
    const page = await search([], `${byText}&query.limit=1&query.offset=1`);
    assert.deepEqual([ids(page), page.details.total_result], [[b], "3"]);
    assert.deepEqual(ids(await search([{ in_ids: { ids: [b] } }])), [b]);
    const like = {
      description: `${tag.toLowerCase()} C`,
      method: "TEXT_FILTER_METHOD_EQUALS_IGNORE_CASE",
    };
    assert.deepEqual(ids(await search([{ description: like }])), [c]);
    assert.deepEqual(ids(await search([{ state: { state: active } }])), [a]);
    assert.deepEqual(ids(await search([{ state: { state: inactive } }])), [c, b]);
    bodyOf(await turn(a, "deactivate"));
    assert.deepEqual(ids(await search([{ state: { state: active } }])), []);
    assert.equal(ids(await search([{ state: { state: inactive } }])).length, 3);
  });
});

describe("testing a provider of mails", () => {
  it("is refused for an unknown one and for what is no address", async () => {
    const to = { receiver_address: "a@example.com" };
    assertRefused((await post("/smtp_providers/404/_test", to)).refusal, notFound);
    const field = "test.receiver_address";
    const wrong = await post(`/smtp_providers/${await add()}/_test`, { receiver_address: "me" });
    assertRefused(wrong.refusal, invalid(field));
  });
});
