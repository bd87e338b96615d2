// Run: shared, browser
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { startBrowser, type TestBrowser, type Visit } from "../support/browser.ts";
import { addAuthenticator } from "./authenticators.ts";
import { nonce, type PageServer, startPageServer } from "./page-server.ts";
import { samples } from "./samples.ts";

let server: PageServer;
let browser: TestBrowser;

before(async () => {
  server = await startPageServer();
  browser = await startBrowser();
});

beforeEach(() => {
  server.show(samples({ nonce, postTo: `${server.origin}/callback` }));
  server.sent.length = 0;
});

after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

type Credential = { id: string; type: string; response: Record<string, string> };

describe("a passkey", () => {
  it("is created and used by pressing the button of its page", async () => {
    await using visit = await browser.visit();
    await addAuthenticator(visit);
    const created = await press(visit, "setup-passkey", "#submit");
    assert.equal(created.type, "public-key");
    assert.deepEqual(Object.keys(created.response).toSorted(), [
      "attestationObject",
      "clientDataJSON",
      "transports",
    ]);
    const used = await press(visit, "passkey", "#submit");
    assert.equal(used.id, created.id);
    assert.equal(used.response["userHandle"], "dXNlcg");
    const clientData = Buffer.from(used.response["clientDataJSON"] ?? "", "base64url");
    assert.partialDeepStrictEqual(JSON.parse(clientData.toString()), {
      type: "webauthn.get",
      challenge: "Y2hhbGxlbmdl",
      origin: server.origin,
    });
    assert.equal(server.sent[0]?.fields.get("csrf"), "csrf-token");
    assert.equal(server.sent[0]?.fields.get("flow"), "flow-1");
    assert.deepEqual(visit.misdeeds, []);
  });

  it("is offered in the list of the field for the login name", async () => {
    await using visit = await browser.visit();
    await addAuthenticator(visit);
    await press(visit, "setup-passkey", "#submit");
    // The authenticator answers at once what waits behind the field.
    await visit.page.goto(`${server.origin}/login-name`);
    await until(() => server.sent.length === 2);
    assert.equal(server.sent[1]?.path, "/ui/login/passkey");
  });

  it("that the browser refuses is told of, and nothing is sent", async () => {
    await using visit = await browser.visit();
    const pages = samples({ nonce });
    const elsewhere = pages.get("passkey")?.replace("localhost", "elsewhere.example") ?? "";
    server.show(new Map([["passkey", elsewhere]]));
    await visit.page.goto(`${server.origin}/passkey`);
    await visit.page.click("#submit");
    const problem = visit.page.locator("[data-passkey-problem]");
    await problem.getByText("That did not work").waitFor();
    assert.equal(server.sent.length, 0);
  });

  it("has no button where no script runs, but an explanation and another way", async () => {
    await using visit = await browser.visit({ javaScriptEnabled: false });
    await visit.page.goto(`${server.origin}/passkey`);
    assert.equal(await visit.page.locator("#submit").isVisible(), false);
    // Playwright looks into no noscript; the browser shows it.
    const said = await visit.page.evaluate(() => {
      const text = document.querySelector<HTMLElement>("noscript p");
      return text?.checkVisibility() ? text.innerText : undefined;
    });
    assert.match(said ?? "", /^Passkeys need JavaScript/);
    assert.ok(await visit.page.getByRole("link", { name: "Try another way" }).isVisible());
    await visit.page.goto(`${server.origin}/login-name`);
    assert.equal(await visit.page.getByText("Sign in with a passkey").isVisible(), false);
  });

  it("has no button where the browser knows none", async () => {
    await using visit = await browser.visit();
    await visit.page.addInitScript("delete globalThis.PublicKeyCredential");
    await visit.page.goto(`${server.origin}/passkey`);
    assert.equal(await visit.page.locator("#submit").isVisible(), false);
    assert.ok(await visit.page.getByText("does not support passkeys").isVisible());
  });
});

/** Has the browser answer conditional creation as it answers one that is asked for: no Chromium without a window ends one. */
const answersConditionally =
  "const { credentials } = navigator; const create = credentials.create.bind(credentials); credentials.create = ({ mediation, ...more }) => create(more);";
/** A browser that makes no passkey by itself. */
const refusesConditionally =
  "navigator.credentials.create = async () => { throw new DOMException('no', 'NotAllowedError') };";

describe("a passkey that the browser makes by itself (decision 0334)", () => {
  const sent = async (script: string) => {
    await using visit = await browser.visit();
    await visit.page.addInitScript(script);
    await addAuthenticator(visit);
    const begun = Date.now();
    await visit.page.goto(`${server.origin}/prepare-passkey`);
    await until(() => server.sent.length === 1);
    assert.deepEqual(visit.misdeeds, []);
    const credential = server.sent[0]?.fields.get("credential") ?? "";
    return { credential, ms: Date.now() - begun };
  };

  it("is sent without anything that is pressed", async () => {
    const { credential } = await sent(answersConditionally);
    assert.equal((JSON.parse(credential) as Credential).type, "public-key");
  });

  it("holds nothing up where the browser makes none, and for two seconds where it does not end", async () => {
    assert.equal((await sent(refusesConditionally)).credential, "");
    server.sent.length = 0;
    const { credential, ms } = await sent("");
    assert.equal(credential, "");
    assert.ok(ms < 10_000, `${ms} ms`);
  });

  it("is asked for where the browser says that it makes some, and of nobody whose browser runs no script", async () => {
    for (const [script, said] of [
      [
        "PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true })",
        "true",
      ],
      [
        "PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: false })",
        "",
      ],
      ["PublicKeyCredential.getClientCapabilities = undefined", ""],
      ["delete globalThis.PublicKeyCredential", ""],
    ] as const) {
      await using visit = await browser.visit();
      await visit.page.addInitScript(`if (globalThis.PublicKeyCredential) ${script}`);
      await visit.page.goto(`${server.origin}/password-wrong`);
      const field = visit.page.locator("[data-prepares-passkeys]");
      if (said !== "")
        await visit.page.waitForFunction(
          "document.querySelector('[data-prepares-passkeys]').value !== ''",
        );
      assert.equal(await field.inputValue(), said, script);
    }
    await using visit = await browser.visit({ javaScriptEnabled: false });
    await visit.page.goto(`${server.origin}/password-wrong`);
    assert.equal(await visit.page.locator("[data-prepares-passkeys]").getAttribute("value"), "");
  });
});

describe("the answer to an application", () => {
  it("is sent by the page itself", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${server.origin}/form-post`);
    await visit.page.waitForURL("**/callback");
    assert.equal(server.sent[0]?.fields.get("code"), "a1b2c3");
    assert.deepEqual(visit.misdeeds, []);
  });

  it("is sent by a person where no script runs", async () => {
    await using visit = await browser.visit({ javaScriptEnabled: false });
    await visit.page.goto(`${server.origin}/form-post`);
    await visit.page.click("#submit");
    assert.deepEqual(
      [...(server.sent[0]?.fields ?? [])],
      [
        ["code", "a1b2c3"],
        ["state", "xyz"],
      ],
    );
  });
});

describe("a password that is typed", () => {
  it("is shown while its button is pressed in, and sent as a password", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${server.origin}/password`);
    await visit.page.fill("#password", "correct horse");
    const button = visit.page.getByRole("button", { name: "Show password" });
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    assert.equal(await visit.page.getAttribute("#password", "type"), "text");
    await button.click();
    assert.equal(await visit.page.getAttribute("#password", "type"), "password");
    await visit.page.click("#submit");
    assert.equal(server.sent[0]?.fields.get("password"), "correct horse");
  });

  it("ticks each rule that it meets, by itself, and what it no longer meets no more (L7)", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${server.origin}/account-password`);
    const ticked = () =>
      visit.page
        .locator("[data-rules-of] .met")
        .evaluateAll((all) => all.map((each) => each.getAttribute("data-rule")));
    for (const [typed, met] of [
      ["abc", ["lowercase"]],
      ["ABC", ["uppercase"]],
      ["Abc", ["uppercase", "lowercase"]],
      ["12", ["number"]],
      ["!", ["symbol"]],
      ["twelve small letters", ["length", "lowercase"]],
      ["Äß7 #", ["uppercase", "lowercase", "number", "symbol"]],
      // Twelve characters, each of two units.
      ["🐎".repeat(12), ["length", "symbol"]],
      ["", []],
    ] as const) {
      await visit.page.fill("#new-password", typed);
      assert.deepEqual(await ticked(), met, typed);
    }
  });

  it("has no such button where no script runs", async () => {
    await using visit = await browser.visit({ javaScriptEnabled: false });
    await visit.page.goto(`${server.origin}/password`);
    assert.equal(await visit.page.locator("[data-shows]").isVisible(), false);
  });
});

describe("the languages", () => {
  it("are buttons of a disclosure, which needs no script", async () => {
    await using visit = await browser.visit({ javaScriptEnabled: false });
    await visit.page.goto(`${server.origin}/login-name`);
    await visit.page.click(".languages summary");
    const [request] = await Promise.all([
      visit.page.waitForRequest(/ui_locales/),
      visit.page.getByRole("button", { name: "Deutsch" }).click(),
    ]);
    const { pathname, search } = new URL(request.url());
    assert.equal(`${pathname}${search}`, "/ui/login/loginname?flow=flow-1&ui_locales=de");
  });
});

describe("the focus", () => {
  it("is in the field to fill, or in the first that is wrong", async () => {
    await using visit = await browser.visit();
    for (const [name, id] of [
      ["password", "password"],
      ["register-wrong", "email"],
      ["register-account-wrong", "login-name"],
    ]) {
      await visit.page.goto(`${server.origin}/${name}`);
      // A browser moves it when it first draws the page.
      await visit.page.waitForFunction((own) => document.activeElement?.id === own, id);
    }
  });
});

async function press({ page }: Visit, name: string, button: string): Promise<Credential> {
  const count = server.sent.length;
  await page.goto(`${server.origin}/${name}`);
  await page.click(button);
  await page.getByText("sent", { exact: true }).waitFor();
  assert.equal(server.sent.length, count + 1);
  return JSON.parse(server.sent.at(-1)?.fields.get("credential") ?? "");
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!isSo()) {
    assert.ok(performance.now() < end, "waited a minute in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
