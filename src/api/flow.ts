import type { Message } from "@bufbuild/protobuf";
import { deadlineExceeded } from "../errors.ts";
import type { Exchange } from "./exchange.ts";

const idleMs = 600_000;

/**
 * The messages of a server stream, until its end, until the client goes, or until it says nothing for ten minutes
 * (decisions A8). The handler's stream is closed in every case.
 *
 * @throws DEADLINE_EXCEEDED STREAM_IDLE
 */
export async function* flowing(
  exchange: Exchange,
  messages: AsyncIterable<Message>,
): AsyncIterable<Message> {
  const iterator = messages[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  const gone = new Promise<"gone">((resolve) => exchange.onGone(() => resolve("gone")));
  try {
    for (;;) {
      const idle = new Promise<"idle">((resolve) => {
        timer = setTimeout(() => resolve("idle"), idleMs);
      });
      const next = await Promise.race([iterator.next(), gone, idle]);
      clearTimeout(timer);
      if (next === "gone") return;
      if (next === "idle") {
        throw deadlineExceeded("STREAM_IDLE", `nothing happened for ${idleMs / 1000} seconds`);
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: a handler that is stuck waiting would keep the connection.
    void iterator.return?.().catch(() => {});
  }
}
