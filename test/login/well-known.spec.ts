// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { addPersonNamed, signIn } from "../support/login.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { userAgent } from "../support/user-agent.ts";

const peer = await startOidc();
const { issuer } = peer;
after(() => peer[Symbol.asyncDispose]());

const set = (change: object, token = peer.app.token, context = "") =>
  peer.peer.rest("PATCH", `/settings/v3alpha/security${context}`, Object(change), { token });
const read = (path: string) => fetch(`${issuer}/.well-known/${path}`, { redirect: "manual" });

describe("/.well-known/change-password (L11)", () => {
  it("leads to the page of the password", async () => {
    const answer = await read("change-password");
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), "/ui/account/security/password");
    // Who is not signed in is asked to, and comes there then.
    const { loginName } = await addPersonNamed(peer);
    const agent = userAgent(issuer);
    await agent.open("/.well-known/change-password");
    await signIn(agent, loginName);
    assert.equal(agent.last.url.pathname, "/ui/account/security/password");
  });

  it("is believed by programs that keep passwords: what does not exist is not answered with 200", async () => {
    // By this they tell services that answer everything (W3C, section 2.1).
    const nowhere = "resource-that-should-not-exist-whose-status-code-should-not-be-200";
    assert.equal((await read(nowhere)).status, 404);
  });
});

describe("/.well-known/security.txt (RFC 9116, L11)", () => {
  const contacts = (...value: string[]) => ({ security_contacts: { set: { value } } });

  it("is not there until the instance names a contact", async () => {
    const answer = await read("security.txt");
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /SECURITY_CONTACT_NOT_FOUND/);
  });

  it("tells the contacts in their order, how reports are dealt with, and until when it counts", async () => {
    const policy = "https://example.com/disclosure";
    const wanted = ["mailto:security@example.com", "https://example.com/report", "tel:+41-44-1"];
    bodyOf(await set({ ...contacts(...wanted), security_policy_url: { set: policy } }));
    const answer = await read("security.txt");
    assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
    const lines = (await answer.text()).split("\n");
    const expires = lines.find((line) => line.startsWith("Expires: "))?.slice(9) ?? "";
    assert.deepEqual(lines, [
      ...wanted.map((address) => `Contact: ${address}`),
      `Expires: ${expires}`,
      `Policy: ${policy}`,
      `Canonical: ${issuer}/.well-known/security.txt`,
      "",
    ]);
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    assert.ok(days > 88 && days <= 90, expires);
    bodyOf(await set({ security_contacts: { reset: true }, security_policy_url: { reset: true } }));
    assert.equal((await read("security.txt")).status, 404);
  });

  it("says nothing that is no address: a line of somebody's own is refused, with the field", async () => {
    for (const address of [
      "mailto:a@example.com\nPolicy: https://evil.test",
      "javascript:alert(1)",
      "http://example.com",
      "security@example.com",
    ]) {
      const { refusal } = await set(contacts(address));
      assertRefused(refusal, {
        code: 3,
        reason: "VALIDATION_FAILED",
        field: "settings.security_contacts",
      });
    }
    const { refusal } = await set({ security_policy_url: { set: "http://example.com" } });
    assertRefused(refusal, {
      code: 3,
      reason: "VALIDATION_FAILED",
      field: "settings.security_policy_url",
    });
  });

  it("is the instance's alone to set", async () => {
    const organization = await peer.addOrganization();
    const { token } = await peer.addMember(organization, ["ORG_OWNER"]);
    const { refusal } = await set(
      contacts("mailto:a@example.com"),
      token,
      `?ctx.org_id=${organization}`,
    );
    assertRefused(refusal, {
      code: 9,
      reason: "SETTING_OF_INSTANCE",
      field: "settings.security_contacts",
    });
  });
});
