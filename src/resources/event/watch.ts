import { setImmediate as nextTurn } from "node:timers/promises";
import type { WatchEventsRequest } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { FormatEvent } from "../../texts/event-texts.ts";
import type { Language } from "../../texts/languages.ts";
import { position } from "../history/log-reader.ts";
import { type Feed, messageFor, reusedMs } from "./feed.ts";
import { isOpenTo } from "../history/origins.ts";
import { type eventQueries, logOf } from "./queries.ts";

const freshMs = 2 * reusedMs;
const [fewest, mostAtOnce] = [4, 64];
const signOfLifeMs = 30_000;

type Parts = {
  queries: ReturnType<typeof eventQueries>;
  join: (log: string) => Feed;
  language: Language;
  format: FormatEvent;
};

/**
 * The events behind a position and those to come, in the order of the log, which is that of commits. It reads as fast as
 * its messages are taken and holds one step of the log at most. What the caller may see is asked anew for every step; a
 * step that is older than half a second, or than the caller's permissions, is thrown away and read again.
 */
export async function* watch(
  { queries, join, language, format }: Parts,
  { afterSequence, filters }: WatchEventsRequest,
  scope: Scope,
): AsyncGenerator<ReturnType<typeof messageFor> | { sequence: bigint }> {
  using feed = join(logOf(scope));
  const viewOf = queries.viewer(filters);
  let after = position(afterSequence ?? (await queries.head(scope)));
  let quietSince = performance.now();
  let most = mostAtOnce;
  yield { sequence: after };
  for (;;) {
    const { permissions } = scope;
    const step = await feed.next(await viewOf(scope), { after, most });
    const { events, reached, readAt } = step;
    // The sizes of all that is asked for are measured: where they are large, asking for many would be in vain.
    most = Math.min(Math.max(events.length * 2, fewest), 2 * most, mostAtOnce);
    const reader = { language, format, isOpen: isOpenTo(scope) };
    let isCurrent = true;
    for (const event of events) {
      isCurrent = scope.permissions === permissions && performance.now() - readAt < freshMs;
      if (!isCurrent) break;
      const message = messageFor(event, reader);
      yield message;
      after = message.init.sequence;
      quietSince = performance.now();
    }
    if (isCurrent) after = reached;
    if (performance.now() - quietSince >= signOfLifeMs) {
      yield { sequence: after };
      quietSince = performance.now();
    }
    if (isCurrent && step.isHead) await feed.heard(step);
    // A long log that holds little for this watcher must not keep everybody else waiting.
    else await nextTurn();
  }
}
