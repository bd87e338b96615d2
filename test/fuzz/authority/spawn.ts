import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Flags of the search itself, and a ruling that is replaced by what lets pass. */
export type SearchFlags = { flags: readonly string[]; without: string };

/** How a search ended: its exit code, and what it said. */
export type Searched = { code: number | null; said: string };

/** The flags behind `--only authority`; undefined where something else is asked for. */
export function authorityFlags(given: readonly string[]): SearchFlags | undefined {
  const only = given.indexOf("--only");
  if (only < 0 || given[only + 1] !== "authority") return undefined;
  const flags = given.toSpliced(only, 2);
  const at = flags.indexOf("--without");
  const without = at < 0 ? "" : (flags[at + 1] ?? "");
  return { flags: at < 0 ? flags : flags.toSpliced(at, 2), without };
}

// Sources are changed as they are loaded, which wants a process of its own.
function start({ flags, without }: SearchFlags, output: "inherit" | "pipe") {
  const script = (name: string) => join(import.meta.dirname, name);
  const hardened = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
  const child = spawn(
    process.execPath,
    [...hardened, "--import", script("hooks.ts"), script("program.ts"), ...flags],
    {
      stdio: ["ignore", output, output],
      env: { ...process.env, IDSVC_AUTHORITY_WITHOUT: without },
    },
  );
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, ended };
}

/** Searches, and keeps what is said. */
export async function search(asked: SearchFlags): Promise<Searched> {
  const { child, ended } = start(asked, "pipe");
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the search is not heard");
  const [said, failed] = await Promise.all([text(stdout), text(stderr)]);
  return { code: await ended, said: said + failed };
}

/** Searches for whoever sits at the terminal. */
export const searchAloud = async (asked: SearchFlags): Promise<number> =>
  (await start(asked, "inherit").ended) ?? 1;
