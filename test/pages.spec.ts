// Run: alone, early, turns
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { startTestApp, type TestApp } from "./support/app.ts";
import { startBrowser } from "./support/browser.ts";
import { makeCertificate } from "./support/certificate.ts";
import { freePort } from "./support/free-port.ts";
import { turns } from "./support/turns.ts";

const root = resolve(import.meta.dirname, "..");
const usePage = readFileSync(join(root, "docs/use.md"), "utf8");
const blocks = [...usePage.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);

let service: TestApp;
/** Where it is, and what the tools of a reader are told to trust. */
let url: string;
let trust: Record<string, string> = {};

const folder = mkdtempSync(join(tmpdir(), "idsvc-pages-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The issuer is where the service is, as for a reader. */
async function serve(scheme: "http" | "https"): Promise<void> {
  const port = String(await freePort());
  url = `${scheme}://localhost:${port}`;
  let env: Record<string, string> = {};
  if (scheme === "https") {
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    makeCertificate(cert, key);
    env = { IDSVC_TLS_CERT: cert, IDSVC_TLS_KEY: key };
    trust = { CURL_CA_BUNDLE: cert, NODE_EXTRA_CA_CERTS: cert, SSL_CERT_FILE: cert };
  }
  service = await startTestApp({ env: { IDSVC_PORT: port, IDSVC_EXTERNAL_URL: url, ...env } });
}

let appPort: number;
let forgePort: number;
let listenerPort: number;

// Run one after another in one shell, as a reader would type them; only address and folder are those of this test.
async function typed(): Promise<string[]> {
  [appPort, forgePort, listenerPort] = [await freePort(), await freePort(), await freePort()];
  const stdout = await inShell(blocks.map((block) => `${block}\necho; echo ----`).join("\n"));
  return stdout.split("----\n").map((part) => part.trim());
}

async function inShell(lines: string): Promise<string> {
  const script = lines
    .replaceAll("http://localhost:8080", url)
    // Under TLS it is agreed on.
    .replaceAll("--http2-prior-knowledge ", url.startsWith("https:") ? "" : "$&")
    .replaceAll("localhost:3000", `localhost:${appPort}`)
    .replaceAll("localhost:4000", `localhost:${forgePort}`)
    .replaceAll("9871", String(listenerPort))
    .replaceAll("data/bootstrap.json", join(service.kernel.config.dataDir, "bootstrap.json"));
  const { stdout } = await promisify(execFile)("bash", ["-euc", script], {
    cwd: root,
    env: { ...process.env, ...trust },
    // It waits for deliveries in loops.
    timeout: 400_000,
  });
  return stdout;
}

/** The JSON answers of one block, which stand one after another. */
// oxlint-disable-next-line no-explicit-any -- what the answers hold is what the test says.
const answers = (printed: string): any[] =>
  printed
    .replaceAll(/\}\s*(?=\{"(?:details|sequence|code|state_before))/g, "}\n")
    .split("\n")
    .map((line) => JSON.parse(line));

const scheme = turns()(["http", "https"] as const);
describe(`the examples of docs/use.md, over ${scheme}`, () => {
  before(() => serve(scheme));
  after(() => service[Symbol.asyncDispose]());

  it("work as printed, one after another", async () => {
    const [, clientId = "", targets = "", execution = "", refusal = "", , ...rest] = await typed();
    const [offer = "", history = "", provider = "", mail = "", ...more] = rest;
    const [listener = "", heard = "", settings = "", grpc = ""] = more;
    const [created, found] = answers(targets);
    assert.match(created.details.id, /^\d+$/);
    assert.match(created.signing_key, /^idsvc_sk_/);
    assert.equal(found.result[0].target.name, "audit");
    const [set] = answers(execution);
    assert.match(set.details.id, /^request\.idsvc\.resources\.user/);
    assert.equal(answers(refusal)[0].code, 3);

    const [role, app, grant] = answers(offer);
    for (const { details } of [role, app, grant]) assert.match(details.id, /^\d+$/);
    assert.match(app.client_secret, /^idsvc_cs_/);
    const [users, grants, log, ...watched] = answers(history);
    assert.deepEqual(users.result[0].user.login_names, ["ada@acme.localhost"]);
    assert.deepEqual(grants.result[0].user_grant.role_keys, ["buyer"]);
    assert.equal(log.result[0].type, "user.grant.added");
    assert.deepEqual(
      watched.map(({ event }) => event?.type),
      [undefined, "instance.added", "instance.domain.added"],
    );
    const [linked, preview, , off, , inherited] = answers(provider);
    assert.deepEqual(preview.organizations.total, "1");
    const states = [off, inherited].map(({ result: [idp] }) => [idp.state, idp.parent.state]);
    const [active, inactive] = ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"];
    assert.deepEqual(states, [
      [inactive, active],
      [active, active],
    ]);
    assert.match(answers(mail)[0].details.id, /^\d+$/);
    assert.equal(answers(listener)[0].details.id, "event.org.*");
    const [globex, ...told] = answers(heard.replaceAll(/\}\s*(?=\{"aggregateID)/g, "}\n"));
    assert.match(globex.details.id, /^\d+$/);
    assert.ok(told.some(({ event_type }) => event_type === "org.added"));
    assert.equal(told.at(-1).result[0].state, "DELIVERY_STATE_DELIVERED");

    const [, , longer, , back] = settings.split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(longer.settings.min_length, { value: "14" });
    const ofInstance = { type: "OWNER_TYPE_INSTANCE", id: service.made.instance_id };
    const year = { value: "31536000s", owner: ofInstance };
    for (const { settings: each } of [longer, back]) assert.deepEqual(each.max_age, year);
    assert.deepEqual(back.settings.min_length, { value: "8", owner: ofInstance });

    const names = JSON.parse(grpc).result.map(
      (each: { target: { name: string } }) => each.target.name,
    );
    assert.deepEqual(names, ["listener", "audit"]);
    await using running = await startExamples(clientId);
    await logsIn(running.page);
    const org = users.result[0].details.resource_owner.id;
    const forge = off.result[0].details.id;
    await logsInWithTheForge({ ada: linked.details.id, org, forge }, running);
  });
});

describe("the example apps of docs/use.md", () => {
  for (const name of ["log-in", "forge"])
    it(`say on the page all that ${name}.ts can be told`, () => {
      const source = readFileSync(join(root, `test/examples/${name}.ts`), "utf8");
      const [, taken = ""] = /const \{ (.*?) \} = process\.env;/.exec(source) ?? [];
      const variables = [...taken.matchAll(/([A-Z_]+) =/g)].map(([, variable]) => variable);
      assert.ok(variables.length > 1);
      const [, section = ""] = usePage.split(`test/examples/${name}.ts\n\n`);
      const near = usePage.slice(usePage.indexOf(`test/examples/${name}.ts`) - 200);
      const text = near.slice(0, near.length - section.length) + section.slice(0, 700);
      for (const variable of variables) assert.match(text, new RegExp(`\\b${variable}\\b`));
    });
});

type Running = AsyncDisposable & { page: Page; newPage(): Promise<Page> };

/** Starts the app and the forge as the page says, and a browser. */
async function startExamples(clientId: string): Promise<Running> {
  const command = (name: string) =>
    new RegExp(` {4}(?:CLIENT_ID=\\$CLIENT_ID )?npx node (\\S+${name}\\.ts)\\n`).exec(
      usePage,
    )?.[1] ?? "";
  const start = async (name: string, env: Record<string, string>, says: string) => {
    const started = spawn(process.execPath, [command(name)], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...trust, ...env },
    });
    const [printed] = await once(createInterface(started.stdout), "line");
    assert.equal(printed, says);
    return started;
  };
  const env = { CLIENT_ID: clientId, ISSUER: url, PORT: String(appPort) };
  const app = await start("log-in", env, `open http://localhost:${appPort}/`);
  const says = `the forge is at http://localhost:${forgePort}`;
  const forge = await start("forge", { PORT: String(forgePort) }, says);
  const browser = await startBrowser();
  const newPage = async () => (await browser.visit({ ignoreHTTPSErrors: true })).page;
  return {
    newPage,
    page: await newPage(),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      app.kill();
      forge.kill();
    },
  };
}

const told = async (page: Page, name: string) =>
  JSON.parse(await page.locator(`#${name}`).innerText());

/** Goes through the app as the administrator. */
async function logsIn(page: Page): Promise<void> {
  const home = `http://localhost:${appPort}/`;
  const { admin } = service.made;
  await page.goto(home);
  await page.getByText("Log in").click();
  await page.fill("#login-name", admin.login_name);
  await page.click("#submit");
  await page.fill("#password", admin.password);
  await page.click("#submit");
  // The app asks for the API: the person says how far.
  await page.getByText("Only read my own account").click();
  await page.click("#submit");
  assert.match(await told(page, "scope"), /idsvc:aud/);
  const { access_token: token } = await told(page, "tokens");
  assert.match(token, /^idsvc_at_/);
  assert.equal((await told(page, "claims")).sub, admin.user_id);
  assert.equal((await told(page, "userinfo")).preferred_username, admin.login_name);
  const { user } = await told(page, "api");
  assert.deepEqual(user.user.login_names, [admin.login_name]);
  await page.getByText("Log out").click();
  await page.waitForURL(home);
}

/** Goes through it as people of the forge, while that is on and off for the organization of one of them. */
async function logsInWithTheForge(
  { ada, org, forge }: { ada: string; org: string; forge: string },
  { newPage }: Running,
): Promise<void> {
  const definition = /^policy\(\) \{[\s\S]*?\n(?=in_acme)/m.exec(usePage)?.[0] ?? "";
  const decide = (policy: string) =>
    inShell(`${blocks[0]}\nORG=${org}\nFORGE=${forge}\n${definition}\npolicy ${policy}`);
  const comeAs = async (name: string) => {
    const page = await newPage();
    await page.goto(`http://localhost:${appPort}/login`);
    await page.getByText("Continue with Our forge").click();
    await page.click(`#${name}`);
    return page;
  };
  const isAda = async (page: Page) => {
    // The app asks for the API, and belongs to another organization than the user's.
    if (page.url().includes("/ui/login/consent")) await page.click("#submit");
    assert.equal((await told(page, "claims")).sub, ada);
  };
  await isAda(await comeAs("ada"));
  await decide("STATE_POLICY_DEACTIVATE");
  const refused = await comeAs("ada");
  assert.equal(await refused.getAttribute("main", "data-error"), "PROVIDER_OFF");
  const mona = await comeAs("mona");
  assert.match(mona.url(), /\/ui\/login\/consent/);
  await mona.click("#submit");
  const { family_name, sub } = await told(mona, "userinfo");
  assert.equal(family_name, "Lisa");
  assert.notEqual(sub, ada);
  await decide("STATE_POLICY_INHERIT");
  await isAda(await comeAs("ada"));
}
