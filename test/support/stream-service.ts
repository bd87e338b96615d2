import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { create, createFileRegistry, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { failedPrecondition } from "../../src/errors.ts";
import type { Module } from "../../src/projection/module.ts";
import { generateThirdParty } from "../../.ci/generate.ts";

const root = resolve(import.meta.dirname, "../..");

/** The descriptor of `test/fixtures/stream.proto`. */
export const countService: DescService = compile();

function compile(): DescService {
  const folder = mkdtempSync(join(tmpdir(), "stream-"));
  try {
    generateThirdParty(folder);
    cpSync(join(root, "proto/idsvc/options"), join(folder, "idsvc/options"), { recursive: true });
    cpSync(join(root, "test/fixtures/stream.proto"), join(folder, "stream.proto"));
    const { resolve: locate } = createRequire(import.meta.url);
    const buf = join(dirname(locate("@bufbuild/buf-linux-x64/package.json")), "bin/buf");
    execFileSync(buf, ["build", "--as-file-descriptor-set", "--output", "set.binpb"], {
      cwd: folder,
      env: { ...process.env, BUF_CACHE_DIR: join(folder, "cache") },
    });
    const bytes = readFileSync(join(folder, "set.binpb"));
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
    const service = registry.getService("test.stream.CountService");
    if (service === undefined) throw new Error("the fixture has no CountService");
    return service;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many streams of the service have been opened, and how many of them closed again. */
export type Streams = { opened: number; closed: number };

/** A `break_after` at which the method throws what is no refusal. */
export const defectAfter = 3;

type CountRequest = { to: number; breakAfter: number; hang: boolean };

/** A slice whose only method counts. */
export function countModule(streams: Streams): Module {
  const output = countService.method["count"]?.output;
  if (output === undefined) throw new Error("the fixture has no method Count");
  async function* count({ to, breakAfter, hang }: CountRequest) {
    streams.opened += 1;
    try {
      for (let reached = 1; reached <= to; reached++) {
        if (breakAfter > 0 && reached > breakAfter) {
          if (breakAfter === defectAfter) throw new Error("a defect of the handler");
          throw failedPrecondition("COUNT_BROKEN", `cannot count beyond ${breakAfter}`);
        }
        yield create(output as NonNullable<typeof output>, { numberReached: reached });
      }
      while (hang) {
        await new Promise((go) => setTimeout(go, 20));
        yield create(output as NonNullable<typeof output>, { numberReached: 0 });
      }
    } finally {
      streams.closed += 1;
    }
  }
  return {
    events: [],
    projections: [],
    services: () => [{ service: countService, handlers: { count: count as never }, authorize: {} }],
  };
}
