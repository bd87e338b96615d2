import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { goModule, kept } from "./go.ts";

const shipped = resolve(import.meta.dirname, "../../deploy/compose");

/** Builds the command of the library that docker compose reads its files with: it prints a file as that understands it. */
function composeCommand(): string {
  const command = join(kept, "compose-spec");
  mkdirSync(kept, { recursive: true });
  // It has no path that could be installed by name.
  execFileSync("go", ["build", "-o", command, "./cmd"], {
    cwd: goModule("github.com/compose-spec/compose-go/v2", "v2.16.2"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  return command;
}

/** Copies what is shipped for compose into a folder, and reads its file there as docker compose does, for a domain. */
export function readCompose(folder: string, domain: string): string {
  cpSync(shipped, folder, { recursive: true });
  const file = join(folder, "compose.yaml");
  // The command reads no variables.
  const text = readFileSync(file, "utf8").replaceAll(/\$\{IDSVC_DOMAIN:.*?\}/g, domain);
  writeFileSync(file, text);
  return execFileSync(composeCommand(), ["compose.yaml"], { cwd: folder, encoding: "utf8" });
}
