// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type DescMethod, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import { examine } from "../../src/app/examine.ts";
import { authorizeUrl, password, signIn } from "../support/login.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { messageOf } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { userAgent } from "../support/user-agent.ts";

const mails = await startMailServer();
const peer = await startOidc();
const { app, post, put, addOrganization, addMember } = peer;
after(async () => {
  await peer[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});
const sender = { sender_address: "no-reply@idsvc.test", sender_name: "Idsvc" };
const provider = { ...sender, host: mails.host, state_policy: "STATE_POLICY_ACTIVATE" };
bodyOf(await post("/smtp_providers", provider), 201);

const { method: of } = UserService;
const word = (kind: string) => uniqueName(kind).replaceAll(" ", "-");
const newAddress = () => `${word("mail")}@example.test`;
const protocols = ["grpc", "rest"] as const;
const call = (
  protocol: (typeof protocols)[number],
  method: DescMethod,
  request: JsonObject,
  token: string,
) => peer.peer.call(protocol, method, fromJson(method.input, request), { token });
const settings = async (group: string, changes: JsonObject | JsonObject[]) =>
  bodyOf(
    await peer.peer.rest("PATCH", `/settings/v3alpha/${group}`, changes, { token: app.token }),
  );

/** Somebody who registered themselves, and a token of their session. */
async function registered() {
  const client = await peer.addClient();
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client, { prompt: "create" }));
  const email = newAddress();
  await agent.submit({ given_name: "Ada", family_name: "Lovelace", email });
  const { text = "" } = await mails.mailTo(email);
  await agent.submit({ code: /Code: (\S+)/.exec(text)?.[1] ?? "" });
  await agent.submit({ new_password: password });
  const filters = [{ username: { name: email } }];
  const [found] = bodyOf(await post("/users/_search", filters)).result;
  const id = String(found.details.id);
  const checks = { user: { user_id: id }, password: { password } };
  const session = bodyOf(await post("/sessions", { checks }), 201);
  const token = String(session.session_token);
  // An address of theirs that is still to be proven.
  bodyOf(await put(`/users/${id}/email`, { address: newAddress(), send_code: {} }, { token }));
  return { id, token };
}

describe("who must prove never gets the proof (J9)", () => {
  for (const protocol of protocols) {
    it(`over ${protocol}: neither a returned code nor a mark for whoever registered themselves`, async () => {
      const { id, token } = await registered();
      const number = "+41791234567";
      const held = await peer.events();
      const proofs = [{ return_code: {} }, { is_verified: true }];
      const asked: [DescMethod, JsonObject][] = [
        ...proofs.flatMap((proof): [DescMethod, JsonObject][] => [
          [of.setContactEmail, { id, email: { address: newAddress(), ...proof } }],
          [of.setContactPhone, { id, phone: { number, ...proof } }],
          [of.addOTPEmailAuthenticator, { id, email: { address: newAddress(), ...proof } }],
          [of.addOTPSMSAuthenticator, { id, phone: { number, ...proof } }],
        ]),
        [of.resendContactEmailCode, { id, code: { return_code: {} } }],
        [of.requestPasswordReset, { id, medium: { return_code: {} } }],
      ];
      for (const [method, request] of asked) {
        const told = `${method.name} ${JSON.stringify(request)}`;
        const expected = { code: 7, reason: "PROOF_FOR_ONESELF" };
        assertRefused(await call(protocol, method, request, token), expected, told);
      }
      assert.equal((await peer.events()).length, held.length);
    });
  }
});

describe("where messages lead (J9)", () => {
  const method = TextSettingsService.method.setTexts;
  it("texts that send people or codes elsewhere are refused; a plain address is no such text", async () => {
    const key = "message.passwordReset.text";
    const texts = (set: string) => ({ texts: [{ key, language: "en", set }] });
    const expected = { code: 3, reason: "TEXT_INVALID", field: "texts[0].set" };
    for (const protocol of protocols) {
      for (const set of [
        "Enter it at https://evil.test",
        "evil.test/{loginName}",
        "www.evil.test",
        "https://{loginName}.evil.test",
      ]) {
        assertRefused(await call(protocol, method, texts(set), app.token), expected, set);
      }
      const outcome = await call(protocol, method, texts("Ask help@example.test"), app.token);
      assert.ok(outcome.ok);
    }
    await settings("texts", [{ key, language: "en", reset: true }]);
  });

  it("links lead to no host of an app, and to those alone that the instance lists", async () => {
    const app_type = "OIDC_APP_TYPE_WEB";
    await peer.addClient({ redirect_uris: ["https://foreign.test/cb"], app_type });
    const address = newAddress();
    const id = await peer.addPerson({ contact: { email: { address, is_verified: true } } });
    const ask = (protocol: (typeof protocols)[number], origin: string) => {
      const url_template = `${origin}/reset?c={{.Code}}`;
      return call(
        protocol,
        of.requestPasswordReset,
        { id, medium: { send_email: { url_template } } },
        app.token,
      );
    };
    const denied = { code: 3, reason: "URL_TEMPLATE_DENIED", field: "url_template" };
    for (const protocol of protocols) {
      for (const origin of ["https://foreign.test", "https://login.example.com"]) {
        assertRefused(await ask(protocol, origin), denied, origin);
      }
    }
    await settings("security", { allowed_link_hosts: { set: { value: ["login.example.com"] } } });
    for (const [turn, protocol] of protocols.entries()) {
      assert.ok((await ask(protocol, "https://login.example.com")).ok);
      const { text = "" } = await mails.mailTo(address, turn + 1);
      assert.match(text, /https:\/\/login\.example\.com\/reset\?c=\w+/);
      for (const origin of [
        "http://login.example.com",
        "https://login.example.com:8443",
        "https://sub.login.example.com",
        "https://foreign.test",
      ]) {
        assertRefused(await ask(protocol, origin), denied, origin);
      }
    }
    await settings("security", { allowed_link_hosts: { reset: true } });
    assertRefused(await ask("grpc", "https://login.example.com"), denied);
  });
});

describe("how far a mark reaches that no code proved (J9)", () => {
  it("is told to apps and pages of the organization alone, until a code proves it", async () => {
    const home = await addOrganization();
    const { token } = await addMember(home, ["ORG_OWNER"]);
    const project = bodyOf(await post(`/projects?ctx.org_id=${home}`, { name: word("p") }), 201);
    const own = await peer.addClient({}, { project_id: project.details.id });
    const foreign = await peer.addClient();
    const address = newAddress();
    const person = {
      username: word("ada"),
      data: { given_name: "Ada", family_name: "L" },
      contact: { email: { address, is_verified: true } },
      authenticators: { password: { password } },
    };
    const made = bodyOf(await post(`/users?ctx.org_id=${home}`, person, { token }), 201);
    const id = String(made.details.id);
    const told = async (client: typeof own) => {
      const tokens = await peer.tokensFor(client, id, { scope: ["openid", "email"] });
      const { body } = await peer.userinfo(tokens.access_token);
      const introspected = await peer.introspect(tokens.access_token, client);
      return [body.email, body.email_verified, introspected.email_verified];
    };
    assert.deepEqual(await told(own), [address, true, true]);
    assert.deepEqual(await told(foreign), [address, false, false]);
    const letsIn = async (scope: string) => {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, foreign, { scope }));
      const shown = await signIn(agent, address);
      return shown.url.pathname !== "/ui/login/password";
    };
    assert.ok(await letsIn(`openid urn:idsvc:iam:org:id:${home}`));
    assert.ok(await letsIn("openid"), "nobody else has it proven");
    const other = await peer.addPerson({ contact: { email: { address, is_verified: true } } });
    assert.ok(await letsIn(`openid urn:idsvc:iam:org:id:${home}`));
    const code = bodyOf(await post(`/users/${id}/email/_resend`, { return_code: {} }));
    bodyOf(await post(`/users/${id}/email/_verify`, code.verification_code));
    assert.deepEqual(await told(foreign), [address, true, true]);
    bodyOf(await peer.remove(`/users/${other}`));
  });

  for (const protocol of protocols) {
    it(`over ${protocol}: a code that was told to somebody proves no more than their word`, async () => {
      const home = await addOrganization();
      const { token } = await addMember(home, ["ORG_OWNER"]);
      const project = bodyOf(await post(`/projects?ctx.org_id=${home}`, { name: word("p") }), 201);
      const own = await peer.addClient({}, { project_id: project.details.id });
      const foreign = await peer.addClient();
      const person = {
        username: word("eve"),
        data: { given_name: "Eve", family_name: "L" },
        contact: { email: { address: newAddress() } },
        authenticators: { password: { password } },
      };
      const made = bodyOf(await post(`/users?ctx.org_id=${home}`, person, { token }), 201);
      const id = String(made.details.id);
      const told = async (client: typeof own) => {
        const tokens = await peer.tokensFor(client, id, { scope: ["openid", "email"] });
        return (await peer.userinfo(tokens.access_token)).body.email_verified;
      };
      const answered = async (method: DescMethod, request: JsonObject, by: string) => {
        const outcome = await call(protocol, method, request, by);
        return String(Object(messageOf(outcome)).verificationCode ?? "");
      };
      // An address of somebody else, whose mail neither of them reads.
      const address = newAddress();
      const asked = { id, email: { address, return_code: {} } };
      const first = await answered(of.setContactEmail, asked, token);
      // Whoever redeems it, and however many are asked for beside it.
      const session = bodyOf(
        await post("/sessions", { checks: { user: { user_id: id }, password: { password } } }),
        201,
      );
      const verify = { id, verification_code: first };
      await answered(of.verifyContactEmail, verify, String(session.session_token));
      assert.deepEqual([await told(own), await told(foreign)], [true, false]);
      const again = await answered(
        of.resendContactEmailCode,
        { id, code: { return_code: {} } },
        token,
      );
      await answered(of.verifyContactEmail, { id, verification_code: again }, token);
      assert.deepEqual([await told(own), await told(foreign)], [true, false]);
      await answered(of.resendContactEmailCode, { id, code: { send_code: {} } }, token);
      const { text = "" } = await mails.mailTo(address);
      const sent = /Code: (\S+)/.exec(text)?.[1] ?? "";
      await answered(of.verifyContactEmail, { id, verification_code: sent }, token);
      assert.deepEqual([await told(own), await told(foreign)], [true, true]);
    });
  }

  it("doctor counts the marks that no code proved", async () => {
    const marked = async () => {
      const { concerns } = await examine(app.kernel);
      return concerns.find(({ name }) => name === "marks_without_code")?.count ?? 0;
    };
    const before = await marked();
    const email = { address: newAddress(), is_verified: true };
    const id = await peer.addPerson({ contact: { email } });
    assert.equal(await marked(), before + 1);
    bodyOf(await put(`/users/${id}/email`, { address: newAddress() }));
    assert.equal(await marked(), before);
    const code = bodyOf(await post(`/users/${id}/email/_resend`, { return_code: {} }));
    bodyOf(await post(`/users/${id}/email/_verify`, code.verification_code));
    assert.equal(await marked(), before);
    const phone = { number: "+41791234568", is_verified: true };
    bodyOf(await put(`/users/${id}/phone`, phone));
    assert.equal(await marked(), before + 1);
  });
});
