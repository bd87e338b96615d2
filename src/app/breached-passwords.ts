import { createHash } from "node:crypto";
import { breachedFile } from "../crypto/breached-file.ts";
import type { EgressClient } from "../egress/client.ts";
import type { Logger } from "../telemetry/logger.ts";

// What a range API may take (L7), and how long it is left alone after it failed.
const timeoutMs = 300;
const restMs = 5_000;
const longestAnswer = 1024 * 1024;
const prefixLength = 5;

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
    file !== undefined ? breachedFile(file) : url === undefined ? undefined : inRange(outside, url);
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
