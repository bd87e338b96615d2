// Run: shared
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { password } from "../support/login.ts";
import { type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { uniqueName } from "../support/peer.ts";
import { errorOf, type UserAgent, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let pages: LoginPages;

before(async () => {
  const env = { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1", IDSVC_BUDGET_REGISTRATIONS: "2" };
  peer = await startOidc({ env });
  pages = loginPages(peer, await peer.addClient());
});
after(() => peer[Symbol.asyncDispose]());

/** A browser whose person has proven their address. */
async function proven(): Promise<UserAgent> {
  const agent = userAgent(peer.issuer, new Map(), { "x-forwarded-for": "203.0.113.5" });
  const email = `${uniqueName("new").replaceAll(" ", "")}@example.test`;
  await agent.open("/ui/login/register");
  await agent.submit({ given_name: "Grace", family_name: "New", email });
  const { code } = await pages.lastMail();
  assert.equal(pathOf(await agent.submit({ code })), "/ui/login/register/account");
  return agent;
}

it("J12: only what would make an account takes from the budget of registrations", async () => {
  const clumsy = await proven();
  for (const new_password of ["", "short", "password", "short", "password"]) {
    const shown = await clumsy.submit({ new_password });
    assert.equal(pathOf(shown), "/ui/login/register/account");
    assert.equal(shown.status, 200, new_password);
  }
  assert.equal(pathOf(await clumsy.submit({ new_password: password })), "/ui/account");
  assert.equal(pathOf(await (await proven()).submit({ new_password: password })), "/ui/account");
  const third = await proven();
  const refused = await third.submit({ new_password: password });
  assert.deepEqual([refused.status, errorOf(refused)], [429, "RATE_LIMITED"]);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
});
