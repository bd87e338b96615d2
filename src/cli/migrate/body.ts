import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invalidArgument } from "../../errors.ts";
import type { HumanRecord } from "./record.ts";

/** The body of a bulk import, piece by piece. */
export async function* importBody(
  orgId: string,
  users: AsyncIterable<HumanRecord> | Iterable<HumanRecord>,
  { timeout, multiline }: { timeout: string; multiline: boolean },
): AsyncGenerator<string> {
  const [gap, indent] = multiline ? ["\n", 2] : ["", undefined];
  yield `{"dataOrgs":{"orgs":[{"orgId":${JSON.stringify(orgId)},"humanUsers":[`;
  let first = true;
  for await (const user of users) {
    yield `${first ? "" : ","}${gap}${JSON.stringify(user, undefined, indent)}`;
    first = false;
  }
  yield `${gap}]}]},"timeout":${JSON.stringify(timeout)}}${gap}`;
}

/**
 * Writes a file that only its owner reads: it holds hashes of passwords. It has its name only once it is whole, so that
 * one of before stays where the body cannot be made.
 *
 * @throws INVALID_ARGUMENT FILE_UNWRITABLE
 */
export async function writeBody(file: string, body: AsyncIterable<string>): Promise<void> {
  // What is there and no file (standard output, a pipe) has no other name.
  const isFile = !existsSync(file) || statSync(file).isFile();
  const draft = isFile ? `${file}.${process.pid}.draft` : file;
  const written = createWriteStream(draft, isFile ? { mode: 0o600, flush: true } : {});
  try {
    await once(written, "open").catch((cause: unknown) => {
      const why = `${file} cannot be written: ${Reflect.get(Object(cause), "code")}`;
      throw invalidArgument("FILE_UNWRITABLE", why, { cause });
    });
    await pipeline(Readable.from(body), written);
    if (isFile) renameSync(draft, file);
  } finally {
    if (isFile) rmSync(draft, { force: true });
  }
}
