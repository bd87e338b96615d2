import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bufIn } from "./generate.ts";

const root = resolve(import.meta.dirname, "..");
const released = "proto/baseline";

/**
 * Compares the schema with that of the last release, which is kept in `proto/baseline`.
 *
 * @param folder holds `proto`, `third_party` and `buf.yaml`
 * @throws Error with what breaks clients that were made for the release
 */
export function refuseBreakingChanges(folder: string = root): void {
  const before = mkdtempSync(join(tmpdir(), "idsvc-breaking-"));
  try {
    cpSync(join(folder, released), join(before, "proto"), { recursive: true });
    cpSync(join(folder, "third_party"), join(before, "third_party"), { recursive: true });
    cpSync(join(folder, "buf.yaml"), join(before, "buf.yaml"));
    bufIn(folder, ["breaking", "--against", before], "pipe");
  } catch (error) {
    const said: unknown = Reflect.get(Object(error), "stdout");
    if (typeof said !== "string" || said === "") throw error;
    throw new Error(`${said}\nbreaks what the last release (${released}) promised`, {
      cause: error,
    });
  } finally {
    rmSync(before, { recursive: true });
  }
}

/** Makes the schema as it is now the one that later ones are compared with: a step of each release. */
export function release(): void {
  rmSync(join(root, released), { recursive: true, force: true });
  cpSync(join(root, "proto/idsvc"), join(root, released, "idsvc"), { recursive: true });
}

if (import.meta.main) release();
