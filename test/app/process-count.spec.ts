// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadConfig, processCount } from "../../src/app/config.ts";

const load = (env: Record<string, string>) =>
  loadConfig({ files: [], flags: {}, env: { IDSVC_DATA_DIR: "/nowhere", ...env } });
const gibibyte = 1024 ** 3;
const large = { cores: 64, memory: 256 * gibibyte };

describe("IDSVC_PROCESSES, where nobody gives it", () => {
  for (const url of ["http://localhost:8080", "https://127.0.0.1", "http://[::1]:8080"])
    it(`is 1 for ${url}`, () => assert.equal(load({ IDSVC_EXTERNAL_URL: url }).processes, 1));
  it("is auto elsewhere", () =>
    assert.equal(load({ IDSVC_EXTERNAL_URL: "https://id.example.com" }).processes, "auto"));
});

describe("IDSVC_PROCESSES=auto", () => {
  const sqlite = load({ IDSVC_PROCESSES: "auto" });
  const postgres = load({ IDSVC_PROCESSES: "auto", IDSVC_DATABASE_URL: "postgres://db/idsvc" });
  it("is as many as there are cores", () => {
    assert.equal(processCount(sqlite, large), 64);
    assert.equal(processCount(postgres, { ...large, cores: 4 }), 4);
  });
  it("leaves each process 512 MiB, and is never none", () => {
    assert.equal(processCount(sqlite, { ...large, memory: gibibyte }), 2);
    assert.equal(processCount(sqlite, { ...large, memory: gibibyte / 4 }), 1);
  });
  it("is 16 at most on PostgreSQL, which has a hundred connections unless told otherwise", () =>
    assert.equal(processCount(postgres, large), 16));
});

it("a number of processes is that number, whatever the machine gives", () =>
  assert.equal(processCount(load({ IDSVC_PROCESSES: "20" }), { cores: 1, memory: 1 }), 20));
