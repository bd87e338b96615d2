import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { unavailable } from "../errors.ts";

/** The built pages: what is loaded first, and the bytes of each file by its name. */
export type ConsoleFiles = {
  script: string;
  style: string;
  byName: ReadonlyMap<string, { body: Buffer; contentType: string }>;
};

const root = join(import.meta.dirname, "../..");
/** Packages carry the files; in a checkout they are built, in a process of its own, where they are not yet. */
const packaged = join(root, "console");
const builder = join(root, ".ci/console.ts");

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

// A build that fails costs seconds of a core, and anybody may ask for a page.
const retryMs = 30_000;

/**
 * Reads the files once, when the first page is asked for. What failed is tried again half a minute later at the earliest.
 *
 * @throws UNAVAILABLE CONSOLE_NOT_BUILT
 */
export function consoleFiles(find = folderOf): () => Promise<ConsoleFiles> {
  let reading: Promise<ConsoleFiles> | undefined;
  return () => {
    if (reading === undefined) {
      reading = find().then(filesIn);
      reading.catch(() => void setTimeout(() => (reading = undefined), retryMs).unref());
    }
    return reading;
  };
}

async function folderOf(): Promise<string> {
  if (existsSync(packaged)) return packaged;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [builder], {
      cwd: root,
      // Of the environment, which may hold keys, nothing is needed.
      env: {},
    });
    return stdout.trim();
  } catch (cause) {
    throw unavailable("CONSOLE_NOT_BUILT", "the pages of the console could not be built", {
      cause,
      retryAfterSeconds: retryMs / 1_000,
    });
  }
}

function filesIn(folder: string): ConsoleFiles {
  const manifest = readFileSync(join(folder, "manifest.json"), "utf8");
  // It was written by the build.
  const { script, style } = JSON.parse(manifest) as Pick<ConsoleFiles, "script" | "style">;
  const byName = new Map(
    readdirSync(folder).flatMap((name) => {
      const contentType = contentTypes[name.slice(name.lastIndexOf(".") + 1)];
      if (contentType === undefined) return [];
      return [[name, { body: readFileSync(join(folder, name)), contentType }] as const];
    }),
  );
  return { script, style, byName };
}
