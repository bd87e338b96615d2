import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { failedPrecondition } from "./errors.ts";

const root = join(import.meta.dirname, "..");

/** The version of this build, from its package. */
export const version: string = String(
  Reflect.get(Object(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))), "version"),
);

/** What tells this build from any other: its version, and a digest of its program in the files as they are now (some 40 ms). */
export function readBuild(): string {
  const digest = createHash("sha256");
  for (const folder of ["src", "gen"]) {
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    for (const path of paths.filter((each) => /\.[jt]s$/.test(each)).sort())
      digest.update(path).update(readFileSync(join(root, folder, path)));
  }
  return `${version} (${digest.digest("hex").slice(0, 12)})`;
}

/**
 * Called once all is loaded, by a process that works together with the one that has started it.
 *
 * @param expected the build of that one, read when the service was started
 * @throws FAILED_PRECONDITION FILES_REPLACED when the files have changed since
 */
export function requireBuild(expected = "an earlier build"): void {
  const build = readBuild();
  if (build === expected) return;
  throw failedPrecondition(
    "FILES_REPLACED",
    `the files of the service were replaced while it ran: restart it (it was started as ${expected}, the files are ${build})`,
  );
}
