import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  WatchEventsRequest,
  WatchEventsResponseSchema,
} from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Database } from "../../storage/database.ts";
import type { FormatEvent } from "../../texts/event-texts.ts";
import { position } from "./conditions.ts";
import { toEvent } from "./convert.ts";
import type { originFormatter } from "./origins.ts";
import { type eventQueries, logOf } from "./queries.ts";

// Commits wake a watcher; polling is the truth, for other processes.
const pollMs = 1_000;
// Commits that follow each other closely are read together.
const pauseMs = 20;
const freshMs = 500;
const [fewest, mostAtOnce] = [4, 64];
const signOfLifeMs = 30_000;

type Parts = {
  db: Database;
  queries: ReturnType<typeof eventQueries>;
  format: FormatEvent;
  originsFor: ReturnType<typeof originFormatter>;
};
type Message = MessageInitShape<typeof WatchEventsResponseSchema>;

/**
 * The events behind a position and those to come, in the order of the log, which is that of commits. It reads as fast as
 * its messages are taken and holds one step of the log at most. What the caller may see is asked anew for every step; a
 * step that is older than half a second, or than the caller's permissions, is thrown away and read again.
 */
export async function* watch(
  { db, queries, format, originsFor }: Parts,
  { afterSequence, filters }: WatchEventsRequest,
  scope: Scope,
): AsyncGenerator<Message> {
  const bell = listenTo(db, logOf(scope));
  try {
    let after = position(afterSequence ?? (await queries.head(scope)));
    let quietSince = performance.now();
    let most = mostAtOnce;
    yield { sequence: after };
    for (;;) {
      const { permissions } = scope;
      const readAt = performance.now();
      const { events, reached, isHead } = await queries.next(scope, filters, { after, most });
      // The sizes of all that is asked for are measured: where they are large, asking for many would be in vain.
      most = Math.min(Math.max(events.length * 2, fewest), 2 * most, mostAtOnce);
      const originOf = await originsFor(scope, logOf(scope), events);
      let isCurrent = true;
      for (const event of events) {
        isCurrent = scope.permissions === permissions && performance.now() - readAt < freshMs;
        if (!isCurrent) break;
        yield { sequence: event.sequence, event: toEvent(event, format, originOf(event)) };
        after = event.sequence;
        quietSince = performance.now();
      }
      if (isCurrent) after = reached;
      if (performance.now() - quietSince >= signOfLifeMs) {
        yield { sequence: after };
        quietSince = performance.now();
      }
      if (isCurrent && isHead) await bell.heard();
      // A long log that holds little for this watcher must not keep everybody else waiting.
      else await nextTurn();
    }
  } finally {
    bell[Symbol.dispose]();
  }
}

/** Tells of commits in one log. One that comes between two waits is not missed. */
function listenTo(db: Database, instanceId: string) {
  let isRung = false;
  let wake: (() => void) | undefined;
  const forget = db.onCommit((changed) => {
    if (changed !== instanceId) return;
    isRung = true;
    wake?.();
  });
  return {
    /** Resolves soon after the next commit, or the one since the last wait, and after a second at the latest. */
    async heard(): Promise<void> {
      if (!isRung) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, pollMs).unref();
        });
        clearTimeout(timer);
      }
      await delay(pauseMs, undefined, { ref: false });
      isRung = false;
    },
    [Symbol.dispose]: forget,
  };
}
