import type { Response } from "../authz/response-cache.ts";
import { deadlineExceeded } from "../errors.ts";
import type { Exchange } from "./exchange.ts";

const idleMs = 600_000;

/**
 * The messages of a server stream, until its end, until the client goes, or until it says nothing for ten minutes
 * (A8). The handler's stream is closed in every case.
 *
 * @throws DEADLINE_EXCEEDED STREAM_IDLE
 */
export async function* flowing(
  exchange: Exchange,
  messages: AsyncIterable<Response>,
): AsyncIterable<Response> {
  const iterator = messages[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  let isGone = false;
  let wake: (() => void) | undefined;
  exchange.onGone(() => {
    isGone = true;
    wake?.();
  });
  // No race against one promise of the whole stream: it would remember every message.
  const next = () =>
    new Promise<IteratorResult<Response> | "gone" | "idle">((resolve, reject) => {
      wake = () => resolve("gone");
      timer = setTimeout(() => resolve("idle"), idleMs);
      iterator.next().then(resolve, reject);
    });
  try {
    while (!isGone) {
      const step = await next();
      clearTimeout(timer);
      if (step === "gone") return;
      if (step === "idle") {
        throw deadlineExceeded("STREAM_IDLE", `nothing happened for ${idleMs / 1000} seconds`);
      }
      if (step.done) return;
      yield step.value;
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: a handler that is stuck waiting would keep the connection.
    void iterator.return?.().catch(() => {});
  }
}
