// `npm run pictures`: makes the pictures of docs/pictures anew, of a service with people in it.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { startTestApp } from "./support/app.ts";
import { startBrowser } from "./support/browser.ts";
import { freePort } from "./support/free-port.ts";

const folder = resolve(import.meta.dirname, "../docs/pictures");
mkdirSync(folder, { recursive: true });

const port = await freePort();
const url = `http://localhost:${port}`;
const people = [
  ["ada", "Ada", "Lovelace"],
  ["alan", "Alan", "Turing"],
  ["annie", "Annie", "Easley"],
  ["grace", "Grace", "Hopper"],
  ["katherine", "Katherine", "Johnson"],
  ["mary", "Mary", "Jackson"],
];

await using app = await startTestApp({
  env: {
    IDSVC_PORT: String(port),
    IDSVC_EXTERNAL_URL: url,
    IDSVC_BOOTSTRAP_ORGANIZATION: "Acme",
    IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "correct horse battery staple",
  },
});
for (const [username, given_name, family_name] of people) {
  const answer = await fetch(`${url}/resources/v3alpha/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
    body: JSON.stringify({ username, data: { given_name, family_name } }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
}

await using browser = await startBrowser();
const viewport = { width: 1280, height: 720 };
const { page } = await browser.visit({ viewport, colorScheme: "light" });
await page.goto(`${url}/ui/console/people`);
await page.waitForSelector("#login-name");
await page.fill("#login-name", app.made.admin.login_name);
await page.click("#submit");
await page.waitForSelector("#password");
await page.screenshot({ path: join(folder, "log-in.png") });
await page.fill("#password", app.made.admin.password);
await page.click("#submit");
await page.waitForURL(`${url}/ui/console/**`);
await page.getByText("Katherine").first().waitFor();
await page.screenshot({ path: join(folder, "console.png") });
