import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startTestApp, type TestApp } from "./support/app.ts";

const root = resolve(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);

let service: TestApp;
before(async () => {
  service = await startTestApp();
});
after(() => service[Symbol.asyncDispose]());

// Run one after another in one shell, as a reader would type them; only port and folder are those of this test.
async function typed(): Promise<string[]> {
  const script = blocks
    .map((block) => `${block}\necho; echo ----`)
    .join("\n")
    .replaceAll("localhost:8080", `localhost:${service.port}`)
    .replaceAll("data/bootstrap.json", join(service.kernel.config.dataDir, "bootstrap.json"));
  const { stdout } = await promisify(execFile)("bash", ["-euc", script], { cwd: root });
  return stdout.split("----\n").map((part) => part.trim());
}

/** The JSON answers of one block, which stand one after another. */
// oxlint-disable-next-line no-explicit-any -- what the answers hold is what the test says.
const answers = (printed: string): any[] =>
  printed
    .replaceAll(/\}\s*(?=\{"(?:details|sequence|code))/g, "}\n")
    .split("\n")
    .map((line) => JSON.parse(line));

describe("the examples of the README", () => {
  it("work as printed, one after another", async () => {
    const [, targets = "", execution = "", refusal = "", , , offer = "", history = "", ...more] =
      await typed();
    const [listener = "", heard = "", grpc = ""] = more;
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
    assert.equal(answers(listener)[0].details.id, "event.org.*");
    const [globex, ...told] = answers(heard.replaceAll(/\}\s*(?=\{"aggregateID)/g, "}\n"));
    assert.match(globex.details.id, /^\d+$/);
    assert.ok(told.some(({ event_type }) => event_type === "org.added"));
    assert.equal(told.at(-1).result[0].state, "DELIVERY_STATE_DELIVERED");

    const names = JSON.parse(grpc).result.map(
      (each: { target: { name: string } }) => each.target.name,
    );
    assert.deepEqual(names, ["listener", "audit"]);
  });
});
