import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
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

/** Writes a file that only its owner reads: it holds hashes of passwords. */
export const writeBody = (file: string, body: AsyncIterable<string>): Promise<void> =>
  pipeline(Readable.from(body), createWriteStream(file, { mode: 0o600 }));
