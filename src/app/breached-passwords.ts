import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { EgressClient } from "../egress/client.ts";
import type { Logger } from "../telemetry/logger.ts";

// What a range API may take (L7), and how long it is left alone after it failed.
const timeoutMs = 300;
const restMs = 5_000;
const longestAnswer = 1024 * 1024;
const prefixLength = 5;
const digestLength = 40;
const windowBytes = 65_536;
// Of a file whose digests are not spread evenly the middle is looked at from then on.
const mostGuesses = 8;

type Parts = {
  file: string | undefined;
  url: string | undefined;
  outside: Pick<EgressClient, "call">;
  logger: Logger;
};

/**
 * Tells whether a password is among those that are known from breaches, by what the operator has configured: a file, else a
 * range API. Whatever fails is logged, and takes no password for a breached one. Nothing is configured: none is.
 */
export function createBreachScreen({ file, url, outside, logger }: Parts): Screen {
  const found =
    file !== undefined ? inFile(file) : url === undefined ? undefined : inRange(outside, url);
  let restsUntil = 0;
  return async (password) => {
    const digest = createHash("sha1").update(password).digest("hex").toUpperCase();
    if (found === undefined || Date.now() < restsUntil) return false;
    try {
      return await found(digest);
    } catch (err) {
      restsUntil = Date.now() + restMs;
      logger.warn(
        { err },
        "breached passwords cannot be looked up: for a few seconds passwords are taken without",
      );
      return false;
    }
  };
}

type Screen = (password: string) => Promise<boolean>;
type Find = (digest: string) => Promise<boolean>;

/**
 * In a file of lines `<SHA-1 in capital hex>` or `<SHA-1>:<count>`, sorted. Digests are spread evenly, so that one tells about
 * where it stands: two or three reads, however long the file is.
 */
const inFile =
  (path: string): Find =>
  async (digest) => {
    await using file = await open(path, "r");
    const read = async (at: number, length: number): Promise<string> => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      return buffer.toString("latin1", 0, bytesRead);
    };
    const isAmong = (lines: readonly string[]) => lines.some((line) => line.startsWith(digest));
    // The line, where there is one, begins in [first, end); there the digests go from `low` to `high`.
    let [first, end] = [0, (await file.stat()).size];
    let [low, high] = [0, 1];
    for (let step = 0; end - first > windowBytes; step += 1) {
      const isGuessed = step < mostGuesses && high > low;
      const share = isGuessed ? (fractionOf(digest) - low) / (high - low) : 1 / 2;
      const guess = Math.floor(first + share * (end - first) - windowBytes / 2);
      const from = Math.min(Math.max(guess, first), end - windowBytes);
      const text = await read(from, windowBytes);
      const begin = from === first ? 0 : text.indexOf("\n") + 1;
      const lines = text.slice(begin).split("\n").slice(0, -1);
      const [least = "", greatest = ""] = [lines[0], lines.at(-1)].map((line) =>
        line?.slice(0, digestLength),
      );
      if (![least, greatest].every((each) => /^[0-9A-F]{40}$/.test(each))) {
        throw new Error(`${path} is not made of lines that begin with a SHA-1 in capital letters`);
      }
      if (digest < least) [end, high] = [from + begin, fractionOf(least)];
      else if (digest > greatest) {
        [first, low] = [from + text.lastIndexOf("\n") + 1, fractionOf(greatest)];
      } else return isAmong(lines);
    }
    return isAmong((await read(first, end - first)).split("\n"));
  };

/** Where a digest stands among all, from 0 to 1. */
const fractionOf = (digest: string): number => Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48;

/** At a range API, which is told the first five digits alone; it pads its answer, so that their number tells nothing either. */
const inRange =
  (outside: Pick<EgressClient, "call">, url: string): Find =>
  async (digest) => {
    const { status, body } = await outside.call({
      method: "GET",
      url: `${url.replace(/\/$/, "")}/${digest.slice(0, prefixLength)}`,
      headers: { "add-padding": "true", accept: "text/plain" },
      timeoutMs,
      signal: undefined,
      maxBytes: longestAnswer,
    });
    if (status !== 200) throw new Error(`the range API answered with ${status}`);
    const wanted = `${digest.slice(prefixLength)}:`;
    return Buffer.from(body)
      .toString("latin1")
      .split(/\r?\n/)
      .some((line) => line.startsWith(wanted) && Number(line.slice(wanted.length)) > 0);
  };
