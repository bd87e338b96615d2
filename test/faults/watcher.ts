import { setTimeout as delay } from "node:timers/promises";
import { token } from "./store.ts";

const pauseMs = 50;
const patienceMs = 10_000;

/** Somebody who follows the log by `_watch`, over restarts from where they were. */
export type Watcher = {
  /** Follows one server until it ends or this is disposed; `begun` once it has told something, or has ended. */
  follow(url: string): AsyncDisposable & { begun: Promise<void> };
  /** Follows until the head of the log was told, and gives what was told wrong (rule 4). */
  catchUp(url: string): Promise<string[]>;
};

/**
 * Whoever owns the instance is told of all its events, whose sequences have no holes: one that was passed over, and one that
 * comes again, shows at the next.
 */
export function createWatcher(): Watcher {
  const violations: string[] = [];
  let last: bigint | undefined;

  function hear(line: string): void {
    const { sequence, event } = Object(JSON.parse(line));
    // The last line may say why the stream ends.
    if (sequence === undefined) return;
    const told = BigInt(sequence);
    if (event === undefined) {
      // A position: where the stream begins, and later that nothing came for long.
      if (last !== undefined && told !== last)
        violations.push(`the feed stands at ${told} after ${last}`);
      last ??= told;
      return;
    }
    if (last !== undefined && told !== last + 1n)
      violations.push(`the feed told ${told} after ${last}`);
    last = told;
  }

  async function read(url: string, signal: AbortSignal, onEvent: () => void): Promise<void> {
    const after = last === undefined ? {} : { after_sequence: String(last) };
    const answer = await fetch(`${url}/resources/v3alpha/events/_watch`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(after),
      signal,
    });
    if (!answer.ok || answer.body === null)
      throw new Error(`watching was answered ${answer.status}`);
    let rest = "";
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") hear(line);
      if (last !== undefined) onEvent();
    }
  }

  function follow(url: string): ReturnType<Watcher["follow"]> {
    const left = new AbortController();
    // The stream ends with the server, in order or not: who follows goes on from what they were told last.
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const reading = read(url, left.signal, begin).catch(() => undefined);
    void reading.then(begin);
    return {
      begun,
      async [Symbol.asyncDispose]() {
        left.abort();
        await reading;
      },
    };
  }

  return {
    follow,
    async catchUp(url) {
      await using _ = follow(url);
      const head = await headOf(url);
      for (const end = Date.now() + patienceMs; (last ?? 0n) < head; await delay(pauseMs)) {
        if (Date.now() < end) continue;
        violations.push(`the feed told of nothing after ${last} of ${head}`);
        break;
      }
      return violations.splice(0);
    },
  };
}

async function headOf(url: string): Promise<bigint> {
  const answer = await fetch(`${url}/resources/v3alpha/targets/_search`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  return BigInt(Object(await answer.json()).details.processed_sequence);
}
