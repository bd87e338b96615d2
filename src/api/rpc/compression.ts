import { type Readable, pipeline } from "node:stream";
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
} from "node:zlib";
import { bodyTooLarge } from "../refusals.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { invalidArgument, unimplemented } from "../../errors.ts";
import type { Exchange } from "../exchange.ts";

type Decompress = (
  body: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void;
const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ["gzip", gunzip],
  ["deflate", inflate],
  ["br", brotliDecompress],
]);

export const acceptedEncodings = "gzip,deflate,br,identity";

/**
 * Undoes a compression, without ever holding more than `limit` bytes of the result; no promise where there is none.
 *
 * @throws BODY_TOO_LARGE, ENCODING_UNSUPPORTED, ENCODING_MALFORMED
 */
export function decompress(
  encoding: string,
  body: Uint8Array,
  limit: number,
): Awaitable<Uint8Array> {
  if (encoding === "identity" || encoding === "") return body;
  const run = decompressors.get(encoding);
  if (run === undefined) return Promise.reject(unsupported(encoding));
  return new Promise((resolve, reject) => {
    run(body, { maxOutputLength: limit }, (error, result) => {
      if (error === null) return resolve(result);
      const tooLarge = "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
      reject(
        tooLarge
          ? bodyTooLarge("message", limit)
          : invalidArgument("ENCODING_MALFORMED", `the message is not valid ${encoding}`, {
              cause: error,
            }),
      );
    });
  });
}

/** The body of a request without its compression; no promise where there is nothing to wait for. */
export function readDecompressed(exchange: Exchange, limit: number): Awaitable<Uint8Array> {
  const encoding = exchange.headers.get("content-encoding") ?? "";
  return whenKnown(exchange.readBody(limit), (body) => decompress(encoding, body, limit));
}

const streams = new Map([
  ["gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/**
 * Undoes a compression piece by piece, of a body of any length.
 *
 * @throws ENCODING_UNSUPPORTED, ENCODING_MALFORMED; and what the body itself throws
 */
export async function* decompressPieces(
  encoding: string,
  body: Readable,
): AsyncIterable<Uint8Array> {
  if (encoding === "identity" || encoding === "") return yield* body;
  const make = streams.get(encoding);
  if (make === undefined) throw unsupported(encoding);
  let broken: unknown;
  const plain = pipeline(body, make(), (error) => (broken = body.errored ?? error));
  try {
    yield* plain;
  } catch (cause) {
    if (cause === body.errored) throw cause;
    throw invalidArgument("ENCODING_MALFORMED", `the message is not valid ${encoding}`, {
      cause: broken ?? cause,
    });
  }
}

const unsupported = (encoding: string) =>
  unimplemented(
    "ENCODING_UNSUPPORTED",
    `compression "${encoding}" is not supported: use one of ${acceptedEncodings}`,
    {
      headers: {
        "grpc-accept-encoding": acceptedEncodings,
        "accept-encoding": acceptedEncodings,
      },
    },
  );
