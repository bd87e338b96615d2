import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = resolve(import.meta.dirname, "../../..");

/** The types of `test/fixtures/transcode.proto`. */
export const registry: FileRegistry = compile();

/** A message of the fixture. */
export function messageNamed(name: string): DescMessage {
  const desc = registry.getMessage(`test.transcode.${name}`);
  assert.ok(desc, `the fixture has no message ${name}`);
  return desc;
}

/** A method of the fixture. */
export function methodNamed(service: string, name: string): DescMethod {
  const desc = registry.getService(`test.transcode.${service}`);
  const method = desc?.methods.find((one) => one.name === name);
  assert.ok(method, `the fixture has no method ${name}`);
  return method;
}

// Compiled in a folder of its own, from the packages that third_party comes from: a test that laid out third_party
// itself would pull it, and gen/, from under the tests that run beside it.
function compile(): FileRegistry {
  const folder = mkdtempSync(join(tmpdir(), "transcode-"));
  try {
    const api = "google/api";
    for (const name of ["annotations.proto", "http.proto"]) {
      cpSync(join(root, "node_modules/google-proto-files", api, name), join(folder, api, name));
    }
    cpSync(join(root, "test/fixtures/transcode.proto"), join(folder, "transcode.proto"));
    const { resolve: locate } = createRequire(import.meta.url);
    const buf = join(dirname(locate("@bufbuild/buf-linux-x64/package.json")), "bin/buf");
    execFileSync(buf, ["build", "--as-file-descriptor-set", "--output", "set.binpb"], {
      cwd: folder,
      env: { ...process.env, BUF_CACHE_DIR: join(folder, "cache") },
    });
    const bytes = readFileSync(join(folder, "set.binpb"));
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
