import type { Deps } from "../../projection/module.ts";
import type { RowChange } from "../../storage/row-change.ts";
import type { TargetCalled } from "../run.ts";
import { addTried } from "./table.ts";

const flushMs = 200;
const mostKept = 10_000;

/**
 * Records deliveries that were made while somebody waited, soon after: their caller does not wait for the disk. The last
 * of them are lost when the process is killed, and the oldest when the store cannot be written for long.
 */
export function createRecords(
  { db, now }: Pick<Deps, "db" | "now">,
  onError: (error: unknown) => void,
): AsyncDisposable & { add(called: TargetCalled): void } {
  let pending: { instanceId: string; change: RowChange }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    timer = undefined;
    const taken = pending;
    pending = [];
    for (const [instanceId, records] of Map.groupBy(taken, (each) => each.instanceId)) {
      const changes = records.map(({ change }) => change);
      await db
        .commit({ instanceId, expect: [], claims: [], events: [], changes })
        .catch((error: unknown) => {
          pending = [...records, ...pending].slice(-mostKept);
          onError(error);
        });
    }
    if (pending.length > 0) schedule();
  }
  function schedule(): void {
    timer ??= setTimeout(() => void (flushing = flush()), flushMs);
  }

  return {
    add({ outcome, attempt, ...about }) {
      const change = addTried({ ...about, eventSequence: 0n }, attempt, outcome, now());
      pending.push({ instanceId: about.instanceId, change });
      if (pending.length > mostKept) pending.shift();
      schedule();
    },
    async [Symbol.asyncDispose]() {
      await flushing;
      clearTimeout(timer);
      if (pending.length > 0) await flush();
      clearTimeout(timer);
    },
  };
}
