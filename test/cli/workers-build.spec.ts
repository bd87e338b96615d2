// Run: alone, early, turns
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { writerScript } from "../../src/app/shared-store.ts";
import { readBuild } from "../../src/build.ts";
import { workerVariables } from "../../src/cli/worker.ts";
import { everyOther } from "../support/turns.ts";
import { newFolder } from "./command.ts";
import {
  addTarget,
  type Engine,
  engineNames,
  processesOf,
  request,
  type Service,
  startWorkers,
  workerOf,
} from "./workers.ts";

const repository = resolve(import.meta.dirname, "../..");
const program = "src/yielder.ts";
const refusal =
  /^idsvc: the files of the service were replaced while it ran: restart it \(it was started as \d+\.\d+\.\d+ \(\w+\), the files are \d+\.\d+\.\d+ \(\w+\)\) \(FILES_REPLACED\)$/gm;

/** The files of the service, which a test may replace. */
function copyOfService(): string {
  const root = mkdtempSync(join(tmpdir(), "idsvc-copy-"));
  for (const each of ["src", "gen", "package.json"])
    cpSync(join(repository, each), join(root, each), { recursive: true });
  for (const each of ["node_modules", "third_party"])
    symlinkSync(join(repository, each), join(root, each));
  return root;
}

const replacing = (engine: Engine) => {
  let root: string;
  let service: Service;
  before(async () => {
    root = copyOfService();
    service = await startWorkers(engine, {}, root);
  });
  after(async () => {
    await service.end();
    rmSync(root, { recursive: true, force: true });
  });
  const refusals = () => service.printed().match(refusal)?.length ?? 0;
  const replace = () => appendFileSync(join(root, program), "// of another build\n");

  it("are not joined by one of another build: it says so in one line, and the others serve", async () => {
    const served = service.said("serving");
    replace();
    process.kill(workerOf(service), "SIGKILL");
    await service.until("it is refused twice", () => refusals() === 2);
    assert.equal((await addTarget(service, "meanwhile")).status, 201);
    assert.equal(service.said("serving"), served);
  });

  it("are joined again once the files are those of the start", async () => {
    const served = service.said("serving");
    cpSync(join(repository, program), join(root, program));
    await service.until("it serves", () => service.said("serving") === served + 1);
    for (let nth = 0; nth < 4; nth += 1)
      assert.equal((await request(service, "/healthz")).status, 200);
  });

  if (engine === "sqlite") {
    it("end with 1 where the process that writes would be of another build: nothing could be written", async () => {
      replace();
      const { writer } = processesOf(service);
      assert.ok(writer !== undefined);
      process.kill(writer, "SIGKILL");
      assert.equal(await service.gone, 1);
      const said = service.lines().filter(({ reason }) => reason === "FILES_REPLACED");
      assert.equal(said.length, 1, service.printed().slice(-2_000));
      assert.match(said[0]?.msg ?? "", /^the files of the service were replaced while it ran/);
      assert.equal(service.said("ending: no process can be started that writes the store"), 1);
    });
  }
};

for (const engine of everyOther(["sqlite", "postgres"] as const)) {
  describe(`processes that serve together, and files that are replaced (on ${engineNames[engine]})`, () =>
    replacing(engine));
}

/** A process of those that serve together, as the one that starts them starts it. */
function startOne(script: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const execArgv = ["--disable-proto=throw"];
  const child = fork(script, args, { env, execArgv, silent: true });
  assert.ok(child.stdout !== null && child.stderr !== null);
  const ended = new Promise<number | string | null>((done) =>
    child.once("exit", (code, signal) => done(signal ?? code)),
  );
  return { child, ended, out: text(child.stdout), err: text(child.stderr) };
}

describe("a process that serves with others", () => {
  const serving = (more: NodeJS.ProcessEnv) =>
    startOne(join(repository, "src/main.js"), ["serve"], {
      IDSVC_DATA_DIR: newFolder(),
      IDSVC_LOG_LEVEL: "info",
      [workerVariables.number]: "1",
      ...more,
    });

  it("does not begin where the build that starts it does not name itself", async () => {
    const { ended, err } = serving({ IDSVC_LOG_LEVEL: "silent" });
    assert.match(
      await err,
      /^idsvc: the files of the service were replaced .* started as an earlier build, .*\n$/,
    );
    assert.equal(await ended, 1);
  });

  it("does not serve where the one that starts it has gone before it began", async () => {
    const { child, ended, out } = serving({ [workerVariables.build]: readBuild() });
    child.disconnect();
    assert.equal(await ended, "SIGTERM");
    assert.doesNotMatch(await out, /serving/);
  });

  it("ends where the one that starts it has gone before it could write", async () => {
    const path = join(newFolder(), "idsvc.db");
    const { child, ended } = startOne(writerScript, [path, `${path}-writer`, readBuild()]);
    child.disconnect();
    assert.equal(await ended, 0);
  });
});
