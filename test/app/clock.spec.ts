// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireClock } from "../../src/app/clock.ts";
import { examine } from "../../src/app/examine.ts";
import { DomainError } from "../../src/errors.ts";
import { idsvc, newFolder, serve } from "../cli/command.ts";
import { startTestApp, storeEnv } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";

const minute = 60_000;
const remedy = /timedatectl set-ntp true/;

describe("a clock that was never set", () => {
  it("is refused at the start, in one line with the remedy", async () => {
    const at1970 =
      "--import=data:text/javascript,Date=class%20extends%20Date{constructor(at=0){super(at)}}";
    const env = { NODE_OPTIONS: at1970, IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: "0" };
    const { code, err } = await idsvc(["serve"], env);
    assert.equal(code, 1);
    assert.match(err, /^idsvc: the clock says 1970-01-01T00:00:00.000Z.*\(CLOCK_WRONG\)\n$/);
    assert.match(err, remedy);
  });

  it("is told from one that may be right", () => {
    requireClock(new Date("2026-01-01T00:00:00Z"));
    assert.throws(
      () => requireClock(new Date("2025-12-31T23:59:59Z")),
      (error: unknown) => error instanceof DomainError && error.reason === "CLOCK_WRONG",
    );
  });
});

describe("a clock that is behind the store", () => {
  it("is told by the doctor, from a minute on", async () => {
    await using app = await startTestApp();
    const { kernel } = app;
    const told = async (behindMs: number) => {
      const now = () => new Date(Date.now() - behindMs);
      const { concerns } = await examine({ ...kernel, now });
      return concerns.filter(({ name }) => name === "clock_behind");
    };
    assert.deepEqual(await told(0), []);
    assert.deepEqual(await told(minute / 2), []);
    const [concern] = await told(90 * minute);
    assert.ok(concern !== undefined && concern.count >= 89 && concern.count <= 90, String(concern));
    assert.match(concern.text, remedy);
    const [newest = ""] = concern.some;
    assert.ok(Math.abs(Date.parse(newest) - Date.now()) < minute, newest);
  });

  it("is told by one line of the log at the start, which goes on", async () => {
    const dataDir = newFolder();
    const ahead = () => new Date(Date.now() + 600 * minute);
    await (await startTestApp({ dataDir, now: ahead }))[Symbol.asyncDispose]();
    const port = String(await freePort());
    const env = { IDSVC_DATA_DIR: dataDir, IDSVC_PORT: port, ...(await storeEnv(dataDir)) };
    const { code, out } = await serve(env);
    assert.equal(code, 0);
    const lines = out.split("\n").filter((line) => line.includes("the clock is behind"));
    assert.equal(lines.length, 1, out);
    assert.match(lines[0] ?? "", /"level":"warn".*\b(?:599|600) minutes.*timedatectl set-ntp true/);
  });
});
