// Run: shared
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, read, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { createBreachScreen } from "../../../src/app/breached-passwords.ts";
import { breachedFile } from "../../../src/crypto/breached-file.ts";
import { EgressError } from "../../../src/egress/error.ts";
import { createLogger } from "../../../src/telemetry/logger.ts";
import { addPersonNamed, authorizeUrl, signIn } from "../../support/login.ts";
import { type OidcPeer, startOidc } from "../../support/oidc.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { userAgent } from "../../support/user-agent.ts";

const leaked = "purple elephants dance quietly";
const unknown = "green tortoises sing at noon";
const digest = (password: string) =>
  createHash("sha1").update(password).digest("hex").toUpperCase();

const folder = mkdtempSync(join(tmpdir(), "idsvc-breached-"));
after(() => rmSync(folder, { recursive: true }));

/** A file as breaches are told of: sorted digests with counts. */
function breachFile(name: string, passwords: Iterable<string>, ending = ":3\r\n"): string {
  const path = join(folder, name);
  const lines = [...passwords].map(digest).toSorted();
  writeFileSync(path, lines.map((line) => line + ending).join(""));
  return path;
}

const screen = (change: object) => (peer: OidcPeer) =>
  peer.peer.rest("PATCH", "/settings/v3alpha/passwords", Object(change), { token: peer.app.token });
const screenAlways = screen({
  screen_passwords: { set: true },
  screen_passwords_at_login: { set: true },
});

describe("passwords that are known from breaches (L7)", () => {
  it("are refused where the settings say so, with the field and the reason; others are not", async () => {
    const path = breachFile("few.txt", [leaked, "a", "b"]);
    await using peer = await startOidc({ env: { IDSVC_BREACHED_PASSWORDS: path } });
    const { id } = await addPersonNamed(peer);
    const set = (password: string) => peer.post(`/users/${id}/password`, { password });
    bodyOf(await set(leaked));
    bodyOf(await screen({ screen_passwords: { set: true } })(peer));
    const { refusal } = await set(leaked);
    assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY", field: "new_password.password" });
    assert.equal(refusal.metadata["missing"], "screen_passwords");
    assert.deepEqual(
      refusal.violations.map(({ reason }) => reason),
      ["PASSWORD_BREACHED"],
    );
    bodyOf(await set(unknown));
    const body = { username: "new", data: {}, authenticators: { password: { password: leaked } } };
    assertRefused((await peer.post("/users", body)).refusal, {
      code: 3,
      reason: "PASSWORD_POLICY",
      field: "user.authenticators.password.password",
    });
  });

  it("must be changed at the next log-in where the settings say so: another one is asked for", async () => {
    const path = breachFile("login.txt", [leaked, "correct horse battery staple"]);
    await using peer = await startOidc({ env: { IDSVC_BREACHED_PASSWORDS: path } });
    const { loginName } = await addPersonNamed(peer);
    const client = await peer.addClient();
    const enter = async () => {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, client));
      await signIn(agent, loginName);
      return agent;
    };
    assert.ok((await enter()).last.left !== undefined);
    bodyOf(await screenAlways(peer));
    const agent = await enter();
    assert.equal(agent.last.url.pathname, "/ui/login/password/change");
    const current = { password: "correct horse battery staple" };
    const refused = await agent.submit({ ...current, new_password: leaked });
    assert.match(refused.html, /known from a data breach/);
    const done = await agent.submit({ ...current, new_password: unknown });
    assert.ok(done.left !== undefined, done.html);
  });

  it("by a session of the API are told by PASSWORD_CHANGE_REQUIRED; a wrong password tells nothing of it", async () => {
    const path = breachFile("api.txt", ["correct horse battery staple", leaked]);
    await using peer = await startOidc({ env: { IDSVC_BREACHED_PASSWORDS: path } });
    const { id } = await addPersonNamed(peer);
    bodyOf(await screenAlways(peer));
    const open = (password: string) =>
      peer.post("/sessions", { checks: { user: { user_id: id }, password: { password } } });
    assertRefused((await open("correct horse battery staple")).refusal, {
      code: 9,
      reason: "PASSWORD_CHANGE_REQUIRED",
    });
    assertRefused((await open(leaked)).refusal, { code: 3, reason: "INVALID_CREDENTIALS" });
  });
});

/** Passwords by their numbers. */
const numbered = (from: number, end: number) =>
  Array.from({ length: end - from }, (_, at) => `known ${from + at}`);
const readAt = promisify(read);

describe("a file of breached passwords", () => {
  const lines: string[] = [];
  const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
  const outside = { call: () => Promise.reject(new Error("nobody is to be called")) };
  const byFile = (file: string) => createBreachScreen({ file, url: undefined, outside, logger });

  it("is found in from its first line to its last, with counts and without", async () => {
    const known = Array.from({ length: 60_000 }, (_, nth) => `known ${nth}`);
    const order = new Map(known.map((password) => [digest(password), password]));
    const sorted = [...order.keys()].toSorted().map((each) => order.get(each) ?? "");
    for (const [name, ending] of [
      ["counted.txt", ":12345\r\n"],
      ["plain.txt", "\n"],
    ] as const) {
      const isBreached = byFile(breachFile(name, known, ending));
      for (const password of [
        sorted[0] ?? "",
        sorted.at(-1) ?? "",
        ...sorted.slice(29_990, 30_010),
      ]) {
        assert.equal(await isBreached(password), true, password);
      }
      for (let nth = 0; nth < 20; nth += 1) assert.equal(await isBreached(`none ${nth}`), false);
    }
  });

  it("is found in too where its digests are not spread evenly", async () => {
    const path = join(folder, "uneven.txt");
    const crowd = Array.from({ length: 20_000 }, (_, nth) => "0000" + digest(`${nth}`).slice(4));
    const few = [digest(leaked), "F".repeat(40)];
    writeFileSync(path, [...crowd, ...few].toSorted().join("\n"));
    assert.equal(await byFile(path)(leaked), true);
    assert.equal(await byFile(path)(unknown), false);
  });

  it("is read once for a password as soon as some were looked up, and three times at most before", async () => {
    const path = breachFile("long.txt", numbered(0, 200_000));
    let reads = 0;
    const isListed = breachedFile(path, (...part) => {
      reads += 1;
      return readAt(...part);
    });
    const readsFor = async (password: string, listed: boolean) => {
      reads = 0;
      assert.equal(await isListed(digest(password)), listed, password);
      return reads;
    };
    const first = [await readsFor("known 0", true), await readsFor("none", false)];
    for (const password of numbered(1, 100)) first.push(await readsFor(password, true));
    assert.ok(Math.max(...first) <= 3, `${Math.max(...first)}`);
    const later: number[] = [];
    for (const password of numbered(1_000, 1_500)) later.push(await readsFor(password, true));
    for (const password of numbered(200_000, 200_500)) later.push(await readsFor(password, false));
    assert.deepEqual([...new Set(later)], [1]);
  });

  it("is read once for most passwords too where its digests are not spread evenly, as each read tells where a line is", async () => {
    const path = join(folder, "crowded.txt");
    const crowd = numbered(0, 200_000).map((each) => `0${digest(each).slice(1)}`);
    writeFileSync(path, crowd.toSorted().join("\n"));
    let reads = 0;
    const isListed = breachedFile(path, (...part) => {
      reads += 1;
      return readAt(...part);
    });
    for (const each of crowd.slice(0, 200)) assert.equal(await isListed(each), true);
    reads = 0;
    for (const each of crowd.slice(1_000, 1_500)) assert.equal(await isListed(each), true);
    assert.ok(reads < 750, `${reads} reads of 500`);
  });

  it("costs half a millisecond of the processor at most for a password", async () => {
    const isBreached = byFile(breachFile("costs.txt", numbered(0, 50_000)));
    await isBreached("the first one opens it");
    const before = process.cpuUsage();
    for (const password of numbered(0, 2_000)) await isBreached(password);
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 2_000 < 500, `${(user + system) / 2_000} µs`);
  });

  it("that is put in the place of another counts within a second, for many who ask at once too", async () => {
    const path = breachFile("replaced.txt", [leaked]);
    const isBreached = byFile(path);
    assert.equal(await isBreached(leaked), true);
    renameSync(breachFile("next.txt", [unknown]), path);
    await delay(1_000);
    const logged = lines.length;
    await Promise.all(numbered(0, 20).map(isBreached));
    assert.deepEqual(await Promise.all([isBreached(unknown), isBreached(leaked)]), [true, false]);
    assert.equal(lines.length, logged);
  });

  it("that is empty or has one line is no harm", async () => {
    assert.equal(await byFile(breachFile("empty.txt", []))(leaked), false);
    assert.equal(await byFile(breachFile("one.txt", [leaked]))(leaked), true);
  });

  it("that is none of the kind, or is gone, keeps nobody out, and the log says so", async () => {
    const path = join(folder, "other.txt");
    writeFileSync(path, "not a digest\n".repeat(10_000));
    assert.equal(await byFile(path)(leaked), false);
    assert.equal(await byFile(join(folder, "nowhere.txt"))(leaked), false);
    assert.equal(lines.filter((line) => line.includes("cannot be looked up")).length, 2);
  });
});

describe("a range API of breached passwords", () => {
  it("is told five digits of the digest, asked for padding, and what it pads with does not count", async () => {
    const asked: { url: string; padding: unknown }[] = [];
    const server = createServer((request, response) => {
      asked.push({ url: request.url ?? "", padding: request.headers["add-padding"] });
      const padded = `${digest(unknown).slice(5)}:0`;
      response.end([`${"0".repeat(35)}:2`, `${digest(leaked).slice(5)}:7`, padded].join("\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/range`;
    try {
      await using peer = await startOidc({ env: { IDSVC_BREACHED_PASSWORDS_URL: url } });
      bodyOf(await screenAlways(peer));
      const { id } = await addPersonNamed(peer);
      const set = (password: string) => peer.post(`/users/${id}/password`, { password });
      assertRefused((await set(leaked)).refusal, { code: 3, reason: "PASSWORD_POLICY" });
      bodyOf(await set(unknown));
      assert.ok(asked.some((one) => one.url === `/range/${digest(leaked).slice(0, 5)}`));
      assert.deepEqual([...new Set(asked.map(({ padding }) => padding))], ["true"]);
      const longest = Math.max(...asked.map((one) => one.url.length));
      assert.equal(longest, "/range/".length + 5);
    } finally {
      server.close();
    }
  });

  it("that fails or takes longer than 300 ms keeps nobody out: it is given its time and no more", async () => {
    const limits: number[] = [];
    const lines: string[] = [];
    const logger = createLogger("warn", { write: (line: string) => void lines.push(line) });
    const url = "https://api.example.com/range";
    const outside = {
      call: ({ timeoutMs }: { timeoutMs: number }) => {
        limits.push(timeoutMs);
        return Promise.reject(new EgressError("timeout", "api.example.com"));
      },
    };
    const isBreached = createBreachScreen({ file: undefined, url, outside, logger });
    assert.equal(await isBreached(leaked), false);
    assert.deepEqual(limits, [300]);
    assert.equal(lines.length, 1);
    // It is not asked again at once: who comes next does not wait for it too.
    assert.equal(await isBreached(leaked), false);
    assert.deepEqual(limits, [300]);
  });
});
