// Run: alone
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { startOidc } from "../support/oidc.ts";
import { pagesIn } from "../support/pages-seen.ts";
import { userAgent } from "../support/user-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-pages-"));
process.env["IDSVC_TEST_PAGES"] = folder;
const service = await startOidc();
after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe("what the gallery shows of the login", () => {
  it("is each state that a running service has shown, once, whomever it was shown to", async () => {
    const client = await service.addClient();
    for (const person of [await addPersonNamed(service), await addPersonNamed(service)]) {
      const agent = userAgent(service.issuer);
      await agent.open(authorizeUrl(service, client));
      await agent.submit({ login_name: person.loginName });
      await agent.submit({ password: "a wrong one" });
    }
    const seen = pagesIn(folder);
    assert.deepEqual(
      seen.map(({ path }) => path),
      ["/ui/login/loginname", "/ui/login/password", "/ui/login/password"],
    );
    const wrong = seen.filter(({ html }) => html.includes("Login name or password is wrong"));
    assert.equal(wrong.length, 1);
  });
});
