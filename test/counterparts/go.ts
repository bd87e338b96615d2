import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** What counterparts are built into, and kept in until packages are installed anew. */
export const kept = resolve(import.meta.dirname, "../../node_modules/.cache/counterparts");

/** Builds a command of a Go module, once for each version. */
export function goCommand(path: string, version: string): string {
  const folder = join(kept, `${basename(path)}-${version}`);
  const command = join(folder, basename(path));
  if (!existsSync(command)) {
    execFileSync("go", ["install", `${path}@${version}`], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, GOBIN: folder },
    });
  }
  return command;
}

/** The sources of a Go module. */
export function goModule(path: string, version: string): string {
  const told = execFileSync("go", ["mod", "download", "-json", `${path}@${version}`], {
    encoding: "utf8",
    env: { ...process.env, GOFLAGS: "-mod=mod" },
  });
  const { Dir }: { Dir: string } = JSON.parse(told);
  return Dir;
}
