// Run: alone, early
import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../support/free-port.ts";
import { makeCertificate } from "../support/certificate.ts";
import { type Env, idsvc, idsvcAlone, newFolder, serve } from "./command.ts";

const searchTargets = (port: string, token: string) =>
  fetch(`http://localhost:${port}/resources/v3alpha/targets/_search`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });

const newEnv = async () => ({
  IDSVC_DATA_DIR: newFolder(),
  IDSVC_PORT: String(await freePort()),
  IDSVC_LOG_LEVEL: "info",
});
const bootstrapFile = (env: { IDSVC_DATA_DIR: string }) =>
  join(env.IDSVC_DATA_DIR, "bootstrap.json");

describe("serving for the first time (H1)", async () => {
  const env = await newEnv();
  let answered = 0;
  const first = await serve(env, async () => {
    const { machine } = JSON.parse(readFileSync(bootstrapFile(env), "utf8"));
    answered = (await searchTargets(env.IDSVC_PORT, machine.token)).status;
  });
  const made = JSON.parse(readFileSync(bootstrapFile(env), "utf8"));

  it("ends with 0 when it is asked to stop", () => assert.equal(first.code, 0));
  it("writes what it made to a file that only its owner may read", () => {
    assert.equal(statSync(bootstrapFile(env)).mode & 0o777, 0o600);
    assert.deepEqual(Object.keys(made), [
      "issuer",
      "instance_id",
      "organization_id",
      "project_id",
      "admin",
      "machine",
    ]);
    assert.deepEqual(Object.keys(made.admin), ["user_id", "login_name", "password"]);
    assert.deepEqual(Object.keys(made.machine), ["user_id", "login_name", "token"]);
    assert.equal(made.issuer, `http://localhost:${env.IDSVC_PORT}`);
    const ids = [made.instance_id, made.organization_id, made.project_id, made.admin.user_id];
    for (const id of [...ids, made.machine.user_id]) assert.match(id, /^\d{15,19}$/);
    assert.equal(new Set([...ids, made.machine.user_id]).size, 5);
    assert.match(made.admin.login_name, /^admin@.+\.localhost$/);
    assert.ok(made.admin.password.length >= 16);
    assert.match(made.machine.token, /^idsvc_pat_.{32,}$/);
  });
  it("prints issuer, console, administrator, password, token and a curl that can be copied", () => {
    const { issuer, admin, machine } = made;
    for (const shown of [issuer, `${issuer}/ui/console`, admin.login_name, admin.password])
      assert.ok(first.out.includes(shown), shown);
    const curl = first.out.slice(first.out.indexOf("  curl "));
    assert.ok(curl.includes(`${issuer}/resources/v3alpha/targets`));
    assert.ok(curl.includes(`Bearer ${machine.token}`));
  });
  it("tells them to whoever may read that file, by a command", async () => {
    const { code, out } = await idsvc(["bootstrap"], env);
    assert.equal(code, 0);
    for (const shown of [made.issuer, made.admin.login_name, made.admin.password])
      assert.ok(out.includes(shown), shown);
    assert.match(out, new RegExp(`^token +${made.machine.token}$`, "m"));
    assert.deepEqual(JSON.parse((await idsvc(["bootstrap", "--json"], env)).out), made);
    const none = await idsvc(["bootstrap"], { IDSVC_DATA_DIR: newFolder() });
    assert.equal(none.code, 1);
    assert.match(none.err, /^idsvc: .*idsvc recover.*\(BOOTSTRAP_FILE_UNREADABLE\)\n$/);
  });
  it("makes a token that may use the API", () => assert.equal(answered, 200));
  it("puts neither password nor token into the log", () => {
    const lines = `${first.out}${first.err}`.split("\n").filter((line) => line.startsWith("{"));
    assert.ok(lines.length > 1);
    for (const line of lines) {
      assert.ok(!line.includes(made.admin.password));
      assert.ok(!line.includes(made.machine.token));
    }
  });
  it("keeps the data folder, its key and its store from other users", () => {
    for (const file of ["master.key", "bootstrap.json"])
      assert.equal(statSync(join(env.IDSVC_DATA_DIR, file)).mode & 0o077, 0, file);
  });

  it("prints neither secret when it serves the second time, and keeps the first instance", async () => {
    const before = readFileSync(bootstrapFile(env), "utf8");
    const second = await serve(env, async () => {
      assert.equal((await searchTargets(env.IDSVC_PORT, made.machine.token)).status, 200);
    });
    assert.equal(second.code, 0);
    assert.ok(second.out.includes(made.issuer));
    for (const secret of [made.admin.password, made.machine.token]) {
      assert.ok(!second.out.includes(secret));
      assert.ok(!second.err.includes(secret));
    }
    assert.equal(readFileSync(bootstrapFile(env), "utf8"), before);
  });
});

describe("serving for the first time where a log takes what is printed (decision 0319)", () => {
  it("prints where the secrets are, and none of them", async () => {
    const env = { ...(await newEnv()), IDSVC_BOOTSTRAP_PRINT: "false" };
    const service = await serve(env);
    assert.equal(service.code, 0);
    const { issuer, admin, machine } = JSON.parse(readFileSync(bootstrapFile(env), "utf8"));
    for (const shown of [issuer, `${issuer}/ui/console`, admin.login_name, bootstrapFile(env)])
      assert.ok(service.out.includes(shown), shown);
    for (const secret of [admin.password, machine.token])
      assert.ok(!`${service.out}${service.err}`.includes(secret));
  });
});

describe("serving for the first time with secrets of one's own", () => {
  it("takes the password and the token it is given", async () => {
    const secrets = {
      IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "Password-of-mine-1",
      IDSVC_BOOTSTRAP_TOKEN: "token-of-mine",
    };
    const env = { ...(await newEnv()), ...secrets };
    const { code } = await serve(env, async () => {
      assert.equal((await searchTargets(env.IDSVC_PORT, "token-of-mine")).status, 200);
    });
    const made = JSON.parse(readFileSync(bootstrapFile(env), "utf8"));
    assert.deepEqual(
      [code, made.admin.password, made.machine.token],
      [0, "Password-of-mine-1", "token-of-mine"],
    );
  });
});

describe("serving where it cannot be served", () => {
  const refused = async (env: Env, reason: string, ...words: string[]) => {
    // What is open by then must not keep the process.
    const { code, out, err } = await idsvcAlone(["serve"], env);
    assert.deepEqual([code, out.includes("idsvc serves on")], [1, false], err);
    const [line = "", ...more] = err.trimEnd().split("\n");
    assert.deepEqual(more, []);
    assert.ok(line.startsWith("idsvc: ") && line.endsWith(`(${reason})`), line);
    for (const word of words) assert.ok(line.includes(word), line);
  };

  it("says that the port is taken, and the next start where the first one's secrets are", async () => {
    const env = await newEnv();
    const other = createServer().listen(Number(env.IDSVC_PORT), "127.0.0.1");
    await once(other, "listening");
    const where = `127.0.0.1:${env.IDSVC_PORT}`;
    await refused(env, "ADDRESS_UNAVAILABLE", where, "something else listens", "IDSVC_PORT");
    other.close();
    const { code, out } = await serve(env);
    assert.equal(code, 0);
    assert.ok(out.includes(bootstrapFile(env)), out);
  });
  it("says that the port of the metrics is taken, and serves nothing then", async () => {
    const env = { ...(await newEnv()), IDSVC_METRICS_PORT: String(await freePort()) };
    const other = createServer().listen(Number(env.IDSVC_METRICS_PORT), "127.0.0.1");
    await once(other, "listening");
    const where = `127.0.0.1:${env.IDSVC_METRICS_PORT}`;
    const words = [where, "something else listens", "(IDSVC_METRICS_PORT)"];
    await refused(env, "METRICS_PORT_UNAVAILABLE", ...words);
    other.close();
  });
  it("says that the machine has no such address", async () => {
    const key = Buffer.alloc(32, 9).toString("base64");
    const env = { ...(await newEnv()), IDSVC_HOST: "192.0.2.1", IDSVC_MASTER_KEY: key };
    await refused(env, "ADDRESS_UNAVAILABLE", "192.0.2.1", "IDSVC_HOST");
  });
  it("says that certificate and key are none, or do not belong together", async () => {
    const folder = newFolder();
    const [none = "", cert = "", key = "", otherCert = "", otherKey = ""] = [
      "none.pem",
      "cert.pem",
      "key.pem",
      "other-cert.pem",
      "other-key.pem",
    ].map((name) => join(folder, name));
    writeFileSync(none, "no certificate");
    makeCertificate(cert, otherKey);
    makeCertificate(otherCert, key);
    for (const files of [
      { IDSVC_TLS_CERT: none, IDSVC_TLS_KEY: none },
      { IDSVC_TLS_CERT: cert, IDSVC_TLS_KEY: key },
    ]) {
      const env = { ...(await newEnv()), ...files };
      await refused(env, "TLS_FILES_WRONG", files.IDSVC_TLS_CERT, "IDSVC_TLS_KEY");
    }
  });
});

describe("serving with a defect", () => {
  it("goes on when a failure is left unhandled, and logs it", async () => {
    const defect = "process.on('SIGUSR2',()=>void(Promise.reject(new Error('left-alone'))))";
    const preload = `--import=data:text/javascript,${encodeURIComponent(defect)}`;
    const env = { ...(await newEnv()), NODE_OPTIONS: preload };
    const { code, out, err } = await serve(env, async (server) => {
      const told = once(server.stdout ?? server, "data", { signal: AbortSignal.timeout(60_000) });
      server.kill("SIGUSR2");
      await told;
      const { machine } = JSON.parse(readFileSync(bootstrapFile(env), "utf8"));
      assert.equal((await searchTargets(env.IDSVC_PORT, machine.token)).status, 200);
    });
    assert.equal(code, 0);
    const line = `${out}${err}`.split("\n").find((each) => each.includes("left-alone"));
    assert.equal(
      JSON.parse(line ?? "{}").msg,
      "a failure that nobody waited for: report it as a defect",
    );
  });
});

describe("serving with the master key (F21)", () => {
  const doctor = (env: Record<string, string>) => idsvc(["doctor"], env);
  const made = newEnv().then(async (env) => {
    await serve(env);
    return env;
  });
  const kept = async () => {
    const { IDSVC_DATA_DIR: original, IDSVC_PORT } = await made;
    const IDSVC_DATA_DIR = newFolder();
    cpSync(original, IDSVC_DATA_DIR, { recursive: true });
    const keyFile = join(IDSVC_DATA_DIR, "master.key");
    return { env: { IDSVC_DATA_DIR, IDSVC_PORT }, keyFile, key: readFileSync(keyFile, "utf8") };
  };

  it("is refused when the key is gone, and makes no other in its place", async () => {
    const { env, keyFile, key } = await kept();
    rmSync(keyFile);
    const { code, out, err } = await idsvc(["serve"], env);
    assert.equal(code, 1);
    assert.match(err, /IDSVC_MASTER_KEY.*\(MASTER_KEY_MISSING\)/s);
    assert.equal(out, "");
    writeFileSync(keyFile, key, { flag: "wx" });
    assert.equal((await doctor(env)).code, 0);
  });
  it("is refused when the key is another", async () => {
    const { env, keyFile, key } = await kept();
    writeFileSync(keyFile, `${Buffer.alloc(32, 7).toString("base64")}\n`);
    const { code, out, err } = await idsvc(["serve"], env);
    assert.equal(code, 1);
    assert.match(err, /IDSVC_MASTER_KEY.*\(MASTER_KEY_WRONG\)/s);
    assert.equal(out, "");
    const { code: given } = await doctor({ ...env, IDSVC_MASTER_KEY: key.trim() });
    assert.equal(given, 0, "the right key, given by the environment, counts before the file");
  });
  it("is refused when the file of the key is cut short, and says so", async () => {
    const { env, keyFile } = await kept();
    writeFileSync(keyFile, "");
    const { code, err } = await idsvc(["serve"], env);
    assert.equal(code, 1);
    assert.match(err, /master\.key.*\(MASTER_KEY_UNREADABLE\)/s);
  });
  it("is refused without a key of its own where it listens beyond this machine (H2)", async () => {
    const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: "0", IDSVC_HOST: "0.0.0.0" };
    const { code, err } = await idsvc(["serve"], env);
    assert.equal(code, 2);
    assert.match(err, /IDSVC_MASTER_KEY.*\(MASTER_KEY_REQUIRED\)/s);
  });
});
