// Run: alone, early
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { migrateAuth0, migrateKeycloak, type MigrateOptions } from "../../src/cli/migrate.ts";
import { verifyImport } from "../../src/cli/verify-import.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { freePort } from "../support/free-port.ts";
import { idsvc, newFolder } from "./command.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures/migrate");
const main = resolve(import.meta.dirname, "../../src/main.js");
const folder = newFolder();
const body = join(folder, "body.json");
const realm = join(fixtures, "realm.json");
const [usersFile = "", passwordsFile = ""] = ["users.jsonl", "passwords.jsonl"].map((name) =>
  join(fixtures, name),
);
const files = ["--users", usersFile, "--passwords", passwordsFile];

const options = (more: Partial<MigrateOptions> = {}): MigrateOptions => ({
  org: "fleet",
  output: body,
  timeout: "30m",
  multiline: false,
  json: true,
  env: {},
  send: undefined,
  tokenFile: undefined,
  follow: undefined,
  ...more,
});
const written = () => Object(JSON.parse(readFileSync(body, "utf8"))).dataOrgs.orgs[0];
const byName = () =>
  new Map<string, Record<string, never>>(
    written().humanUsers.map((each: { user: { userName: string } }) => [each.user.userName, each]),
  );

describe("idsvc migrate keycloak (G5)", () => {
  before(async () => {
    const { code, err } = await idsvc([
      "migrate",
      "keycloak",
      "--org",
      "fleet",
      "--realm",
      realm,
      "--output",
      body,
    ]);
    assert.equal(code, 0, err);
    said = err;
  });
  let said = "";

  it("makes hashes of PBKDF2 and argon2 in the forms that are taken, and carries second factors", () => {
    const users = byName();
    assert.equal(written().orgId, "fleet");
    const hash = (name: string) => Object(users.get(name)).user.hashedPassword?.value;
    assert.match(hash("ada"), /^\$pbkdf2-sha256\$27500\$c2l4dGVlbiBieXRlIHNsdA==\$[^$]+$/);
    assert.match(hash("old"), /^\$pbkdf2\$20000\$/);
    assert.equal(
      hash("alan"),
      "$argon2id$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    );
    assert.equal(hash("odd"), undefined);
    const ada = Object(users.get("ada"));
    assert.equal(ada.user.profile.preferredLanguage, "de");
    assert.deepEqual(ada.metadata, [
      { key: "department", value: Buffer.from("Engines").toString("base64") },
      { key: "phones", value: Buffer.from('["1","2"]').toString("base64") },
    ]);
    const grace = Object(users.get("grace")).user;
    assert.equal(grace.email.isEmailVerified, false);
    // Base32 of the bytes of the text, by Python's base64.
    assert.equal(grace.otpCode, "IRFG2ULGIM3TGVSHIZUHON2EGRIUUOCB");
    assert.equal(Object(users.get("alan")).user.passwordChangeRequired, true);
    assert.equal(Object(users.get("old")).inactive, true);
  });

  it("says what does not move, and of how many", () => {
    const told = said.split("\n").filter((line) => line.includes("not moved"));
    const expected = [
      "realm roles",
      "client roles",
      "groups",
      "links to the identity provider github: name it with --idp github=<id>",
      "required action VERIFY_EMAIL",
      "service accounts: make a machine user for each",
      "credentials of type webauthn",
      "passwords hashed with home-grown",
      "authenticator apps other than 6 digits, 30 seconds, SHA-1",
    ].map((what) => `  not moved, of 1 users: ${what}`);
    assert.deepEqual(told.sort(), expected.sort());
    assert.match(said, /^5 users in /);
  });

  it("moves links to the identity providers whose ids are given", async () => {
    assert.equal(Object(byName().get("odd")).user.idps, undefined);
    assert.equal(await migrateKeycloak(options(), [realm], ["github=3204"]), 0);
    assert.deepEqual(Object(byName().get("odd")).user.idps, [
      { configId: "3204", externalUserId: "1", displayName: "odd" },
    ]);
    for (const wrong of ["github", "=3204", "github="]) {
      await assert.rejects(migrateKeycloak(options(), [realm], [wrong]), {
        kind: "invalidArgument",
        reason: "IDP_OPTION_INVALID",
      });
    }
  });

  it("lets nobody else read what holds hashes", () => {
    assert.equal(statSync(body).mode & 0o077, 0);
  });
});

describe("idsvc migrate auth0 (G5)", () => {
  it("finds the hash by the exact address, and says what does not move", async () => {
    const command = ["migrate", "auth0", "--org", "a", ...files, "--output", body, "--multiline"];
    const { code, out, err } = await idsvc([...command, "--json", "--email-verified", "false"]);
    assert.equal(code, 0, err);
    const { users: count, lost } = JSON.parse(out);
    assert.equal(count, 4);
    assert.deepEqual(
      Object.fromEntries(lost.map(({ what, users }: Record<string, never>) => [what, users])),
      {
        app_metadata: 1,
        "logins with google-oauth2": 1,
        "passwords: the passwords file has none for the address": 1,
      },
    );
    const people = byName();
    const rosa = Object(people.get("rosa@example.test"));
    assert.equal(rosa.userId, "auth0|64a1000000000000000000a1");
    assert.match(rosa.user.hashedPassword.value, /^\$2b\$10\$/);
    assert.deepEqual(rosa.user.email, { email: "rosa@example.test", isEmailVerified: false });
    assert.equal(Object(people.get("nelson@example.test")).inactive, true);
    assert.equal(Object(people.get("late@example.test")).user.hashedPassword, undefined);
    assert.equal(Object(people.get("mae@example.test")).user.profile.firstName, "Mae Jemison");
  });

  const odd = join(folder, "odd.json");
  const source = { users: usersFile, passwords: passwordsFile, emailVerified: true };
  const refused: Record<string, [act: () => Promise<number>, reason: string]> = {
    "a file that is not there": [
      () => migrateKeycloak(options(), [join(folder, "404")]),
      "FILE_UNREADABLE",
    ],
    "a file that is no JSON": [() => migrateKeycloak(options(), [odd]), "FILE_MALFORMED"],
    "a line that is no JSON": [
      () => migrateAuth0(options(), { ...source, users: odd }),
      "FILE_MALFORMED",
    ],
    "lines that are not there": [
      () => migrateAuth0(options(), { ...source, passwords: join(folder, "404") }),
      "FILE_UNREADABLE",
    ],
    "sending without a token": [
      () => migrateKeycloak(options({ send: "http://a.test" }), [realm]),
      "TOKEN_MISSING",
    ],
    "following without an address": [
      () => migrateKeycloak(options({ follow: "1" }), [realm]),
      "SEND_MISSING",
    ],
    "a service that does not answer": [
      () =>
        migrateKeycloak(options({ send: "http://localhost:1", env: { IDSVC_TOKEN: "a" } }), [
          realm,
        ]),
      "SERVICE_UNREACHABLE",
    ],
  };
  for (const [what, [act, reason]] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      writeFileSync(odd, "{\n");
      await assert.rejects(act, { reason });
    });
  }

  it("demands the organization, and ends with 2 for what is wrong", async () => {
    const { code, err } = await idsvc(["migrate", "keycloak"]);
    assert.equal(code, 2);
    assert.match(err, /--org/);
  });
});

describe("idsvc import verify", () => {
  const verify = (user?: string, password?: string) => verifyImport({ file: body, user, password });
  before(() => migrateKeycloak(options(), [realm]));

  for (const [user, password] of [
    ["ada", "ada's own horse"],
    ["grace@example.test", "grace's own horse"],
    ["5f3c6a52-0003-4d2e-9a51-0a1b2c3d4e03", "correct horse"],
    ["old", "old's own horse"],
  ] as const) {
    it(`proves that a password is the one of the hash: ${user}`, async () => {
      assert.equal((await verify(user, password)).holds, true);
      assert.equal((await verify(user, `${password}!`)).holds, false);
    });
  }

  it("refuses a user who is not in it, or comes without a hash", async () => {
    await assert.rejects(verify("nobody", "a"), { reason: "USER_UNKNOWN" });
    await assert.rejects(verify("odd", "a"), { reason: "HASH_MISSING" });
    await assert.rejects(verify(undefined, "a"), { reason: "USER_MISSING" });
  });

  it("without a password judges every hash, and ends with 3 when one cannot be taken", async () => {
    const all = await verify();
    assert.deepEqual([all.holds, all.result], [true, { users: 5, withHash: 4, refused: [] }]);
    const text = readFileSync(body, "utf8");
    writeFileSync(body, text.replace("$pbkdf2-sha256$27500", "$pbkdf2-sha256$2147483648"));
    const { code, out } = await idsvc(["import", "verify", body]);
    assert.equal(code, 3);
    assert.match(out, /1 cannot be taken[^]*PASSWORD_HASH_TOO_COSTLY/);
  });
});

describe("the commands of docs/move-in.md that move users in", () => {
  let peer: ResourcePeer;
  before(async () => {
    const port = String(await freePort());
    const url = `http://localhost:${port}`;
    peer = await startPeer({ env: { IDSVC_PORT: port, IDSVC_EXTERNAL_URL: url } });
  });
  after(() => peer[Symbol.asyncDispose]());

  it("work as printed, one after another", async () => {
    const page = readFileSync(resolve(main, "../../docs/move-in.md"), "utf8");
    const blocks = [...page.matchAll(/```bash\n(.*?)```/gs)].map(([, text = ""]) => text);
    assert.equal(blocks.length, 2);
    const at = newFolder();
    mkdirSync(join(at, "data"));
    copyFileSync(
      join(peer.app.kernel.config.dataDir, "bootstrap.json"),
      join(at, "data/bootstrap.json"),
    );
    const script = blocks
      .join("\necho; echo ----\n")
      .replaceAll(":8080", `:${peer.app.port}`)
      .replaceAll("test/fixtures/migrate", fixtures)
      .replace("npm run --silent idsvc --", `"${process.execPath}" "${main}"`);
    const run = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: at });
    const [moved = "", back = ""] = run.stdout.split("----\n");
    assert.match(moved, /5 users, 4 with a hash, of which 0 cannot be taken\nthe password fits\n/);
    const lines = moved.replaceAll(/\}(?=\{"job"|import )/g, "}\n").split("\n");
    const answers = lines.filter((line) => line.startsWith("{"));
    const [forecast, real] = answers.map((line) => JSON.parse(line));
    assert.deepEqual([forecast.job.dryRun, forecast.job.created], [true, "5"]);
    assert.deepEqual([real.job.created, real.errors], ["5", []]);
    assert.match(moved, /import \d+ completed: 4 created, 0 here already, 0 refused/);
    assert.equal(JSON.parse(back).job.created, "0");

    for (const [user_id, password] of [
      ["5f3c6a52-0001-4d2e-9a51-0a1b2c3d4e01", "ada's own horse"],
      ["auth0|64a1000000000000000000a1", "rosa's own horse"],
    ] as const) {
      bodyOf(
        await peer.post("/sessions", { checks: { user: { user_id }, password: { password } } }),
        201,
      );
    }
    const old = { user: { user_id: "5f3c6a52-0004-4d2e-9a51-0a1b2c3d4e04" } };
    assert.notEqual((await peer.post("/sessions", { checks: old })).status, 201);
  });
});
