// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { addPersonNamed, signIn } from "../support/login.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { userAgent } from "../support/user-agent.ts";

const peer = await startOidc();
after(() => peer[Symbol.asyncDispose]());
const { issuer } = peer;
const own = { "x-idsvc-console": "1" };

/** The cookies of a browser in which a person without any role is signed in to the console. */
async function signedIn(): Promise<string> {
  const { loginName } = await addPersonNamed(peer);
  const agent = userAgent(issuer);
  await agent.open("/ui/console/login");
  await signIn(agent, loginName);
  return [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

describe("the preview of the log-in", () => {
  const preview = async (
    form: Record<string, string>,
    cookie: string,
    headers: Record<string, string> = own,
  ) => {
    const answer = await fetch(`${issuer}/ui/console/preview`, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { cookie, ...headers },
    });
    return { status: answer.status, body: await answer.text(), headers: answer.headers };
  };

  it("is a page of the log-in with what was typed in the place of what is set", async () => {
    const cookie = await signedIn();
    const evil = `<script>alert(1)</script>`;
    const nonce = "n".repeat(22);
    const { status, body, headers } = await preview(
      { product_name: evil, primary_color: "#123456", language: "de", nonce },
      cookie,
    );
    assert.equal(status, 200);
    assert.ok(!body.includes(evil) && body.includes("&lt;script&gt;alert(1)"), body);
    assert.match(body, /<html lang="de"/);
    assert.match(body, new RegExp(`<style nonce="${nonce}">[^<]*--light-brand: #123456`));
    assert.match(headers.get("content-security-policy") ?? "", /^sandbox; default-src 'none'/);
    const other = await preview({ nonce: `"><b>`, theme: "dark" }, cookie);
    assert.match(other.body, /<style nonce="">/);
    assert.match(other.body, /data-theme="dark"/);
  });

  it("of a text is the page that says it; none, where no page does", async () => {
    const cookie = await signedIn();
    const title = "Was war es noch?";
    const said = await preview({ language: "de", key: "password.title", text: title }, cookie);
    assert.ok(said.body.includes(`<h1>${title}</h1>`), said.body);
    const elsewhere = { language: "de", key: "account.title", text: title };
    assert.equal((await preview(elsewhere, cookie)).status, 204);
  });

  it("has the shipped texts where people would see these, and says so: with those that are set it has more than 30 KB", async () => {
    const cookie = await signedIn();
    const long = { key: "password.title", text: '"'.repeat(2_048) };
    const shown = await preview(long, cookie);
    assert.ok(shown.body.includes("&quot;".repeat(2_048)));
    assert.equal(shown.headers.get("x-idsvc-too-large"), null);
    const keys = ["password.forgot", "field.password", "common.continue"];
    const texts = keys.map((key) => ({ key, language: "en", set: long.text }));
    const { token } = peer.app;
    bodyOf(await peer.peer.rest("PATCH", "/settings/v3alpha/texts", texts, { token }));
    peer.pass(2_000);
    const plain = await preview(long, cookie);
    assert.equal(plain.headers.get("x-idsvc-too-large"), "1");
    assert.ok(!plain.body.includes("&quot;".repeat(10)) && plain.body.includes("<h1>"));
  });

  it("is made for nobody who is not signed in, and for no other page", async () => {
    const cookie = await signedIn();
    const strangers = [
      await preview({}, ""),
      await preview({}, cookie, {}),
      await preview({}, cookie, { ...own, origin: "https://evil.test" }),
    ];
    for (const { status, body } of strangers) {
      assert.equal(status, 403);
      assert.match(body, /CONSOLE_SESSION_MISSING/);
    }
  });
});
