import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { SingleBar } from "cli-progress";
import { invalidArgument, tokenMissing } from "../errors.ts";
import { exitCodes } from "./context.ts";
import { fromAuth0, passwordsByEmail } from "./migrate/auth0.ts";
import { importBody, writeBody } from "./migrate/body.ts";
import { fromKeycloak } from "./migrate/keycloak.ts";
import { asList, asObject, type HumanRecord, type Migrated } from "./migrate/record.ts";
import { type Destination, type Finished, followImport, sendBody } from "./migrate/send.ts";

/** What every source is migrated with (specification 11.13). */
export type MigrateOptions = {
  org: string;
  output: string;
  timeout: string;
  multiline: boolean;
  /** The address of the service to import into at once, in the place of the file. */
  send: string | undefined;
  tokenFile: string | undefined;
  /** An import that was sent before, to be watched to its end. */
  follow: string | undefined;
  json: boolean;
  env: NodeJS.ProcessEnv;
};

const mostShown = 20;

/**
 * @param links the providers that links lead to, each `<alias there>=<id here>`
 * @throws INVALID_ARGUMENT IDP_OPTION_INVALID
 */
export async function migrateKeycloak(
  options: MigrateOptions,
  files: string[],
  links: readonly string[] = [],
): Promise<number> {
  const idps = new Map(links.map(aliasAndId));
  return migrate(options, async function* () {
    for (const file of files) {
      for (const user of asList(asObject(parse(readText(file), file))["users"])) {
        yield fromKeycloak(user, idps);
      }
    }
  });
}

function aliasAndId(link: string): [alias: string, id: string] {
  const at = link.lastIndexOf("=");
  if (at > 0 && at < link.length - 1) return [link.slice(0, at), link.slice(at + 1)];
  throw invalidArgument(
    "IDP_OPTION_INVALID",
    `--idp ${link}: give the alias of the provider there and its id here, as in --idp github=3204`,
  );
}

export const migrateAuth0 = (
  options: MigrateOptions,
  files: { users: string; passwords: string; emailVerified: boolean },
): Promise<number> =>
  migrate(options, async function* () {
    const lines: unknown[] = [];
    for await (const line of linesOf(files.passwords)) lines.push(line);
    const hashes = passwordsByEmail(lines);
    for await (const user of linesOf(files.users)) yield fromAuth0(user, hashes, files);
  });

/** Makes the body of an import of what a source gives, and writes or sends it; then tells what does not move. */
async function migrate(
  options: MigrateOptions,
  source: () => AsyncIterable<Migrated>,
): Promise<number> {
  const left = new Map<string, number>();
  let users = 0;
  async function* records(): AsyncGenerator<HumanRecord> {
    for await (const { record, left: lost } of source()) {
      for (const what of new Set(lost)) left.set(what, (left.get(what) ?? 0) + 1);
      if (record === undefined) continue;
      users += 1;
      yield record;
    }
  }
  const to = destinationOf(options);
  if (to !== undefined && options.follow !== undefined) {
    return finish(options, await follow(to, options.follow));
  }
  const body = importBody(options.org, records(), options);
  if (to === undefined) await writeBody(options.output, body);
  const id = to === undefined ? undefined : await sendBody(to, body);

  const lost = [...left].map(([what, count]) => ({ what, users: count }));
  const where = id === undefined ? `in ${options.output}` : `sent as import ${id}`;
  const said = lost.map(({ what, users: count }) => `  not moved, of ${count} users: ${what}\n`);
  process.stderr.write(`${users} users ${where}\n${said.join("")}`);
  if (to !== undefined && id !== undefined) {
    return finish(options, await follow(to, id), { users, lost });
  }
  if (options.json) print({ output: options.output, users, lost });
  return exitCodes.done;
}

async function follow(to: Destination, id: string): Promise<Finished> {
  const bar = new SingleBar({
    format: "importing [{bar}] {percentage}% {value}/{total} {duration_formatted}",
    stream: process.stderr,
    noTTYOutput: false,
  });
  bar.start(1, 0);
  try {
    return await followImport(to, id, ({ done, total }) => {
      bar.setTotal(Math.max(total, 1));
      bar.update(done);
    });
  } catch (error) {
    bar.stop();
    process.stderr.write(`the import goes on; watch it again with --follow ${id}\n`);
    throw error;
  } finally {
    bar.stop();
  }
}

function finish(options: MigrateOptions, result: Finished, more: object = {}): number {
  const { id, state, created, existed, refused, errors } = result;
  if (options.json) print({ ...more, ...result });
  else {
    const shown = errors
      .slice(0, mostShown)
      .map((each) => `  ${each.type} ${each.id}: ${each.message} (${each.reason})\n`);
    const rest = errors.length - shown.length;
    process.stdout.write(
      `import ${id} ${state}: ${created} created, ${existed} here already, ${refused} refused\n${shown.join("")}` +
        (rest > 0 ? `  and ${rest} more: GET /management/v1/import/${id}/report\n` : ""),
    );
  }
  return state === "completed" && refused === 0 ? exitCodes.done : exitCodes.no;
}

const print = (result: object): void => void process.stdout.write(`${JSON.stringify(result)}\n`);

/** @throws INVALID_ARGUMENT TOKEN_MISSING */
function destinationOf({ send, follow: id, tokenFile, env }: MigrateOptions) {
  if (send === undefined) {
    if (id !== undefined) throw invalidArgument("SEND_MISSING", "--follow needs --send <url>");
    return undefined;
  }
  const token = tokenFile === undefined ? env["IDSVC_TOKEN"] : readText(tokenFile).trim();
  if (token === undefined || token === "") {
    throw tokenMissing(
      "invalidArgument",
      "--send needs a token of who may write the instance: in IDSVC_TOKEN, or --token-file <file>",
    );
  }
  return { url: send, token };
}

async function* linesOf(file: string): AsyncGenerator {
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number += 1;
      if (line.trim() !== "") yield parse(line, `${file}, line ${number}`);
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** @throws INVALID_ARGUMENT FILE_UNREADABLE */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** @throws INVALID_ARGUMENT FILE_MALFORMED */
export function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidArgument("FILE_MALFORMED", `${where} is not valid JSON`, { cause });
  }
}

function unreadable(file: string, error: unknown): unknown {
  const code = Reflect.get(Object(error), "code");
  if (typeof code !== "string") return error;
  return invalidArgument("FILE_UNREADABLE", `${file} cannot be read: ${code}`, { cause: error });
}
