import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { goModule, kept } from "./go.ts";

/** Builds the command of the library that docker compose reads its files with: it prints a file as that understands it. */
export function composeCommand(): string {
  const command = join(kept, "compose-spec");
  mkdirSync(kept, { recursive: true });
  // It has no path that could be installed by name.
  execFileSync("go", ["build", "-o", command, "./cmd"], {
    cwd: goModule("github.com/compose-spec/compose-go/v2", "v2.16.2"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  return command;
}
