import { CachedResponse } from "../../authz/response-cache.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import type { Origin } from "../../eventstore/presence.ts";
import type { Deps } from "../../projection/module.ts";
import type { FormatEvent } from "../../texts/event-texts.ts";
import type { Language } from "../../texts/languages.ts";
import { toEvent } from "../history/convert.ts";
import { type HomesOf, shownOrigin } from "../history/origins.ts";
import { createPulse } from "./pulse.ts";
import type { Sized } from "../history/log-reader.ts";
import type { eventQueries, LogView } from "./queries.ts";

/** What was read is used again for so long, and is shown to nobody when it is older than twice that. */
export const reusedMs = 250;
const mostReusedBytes = 2 << 20;
// What an entry takes beside the payload of its event, roughly.
const entryBytes = 2_048;

/** What of an event its follower may see, and how it is told to them. */
export type FeedReader = {
  language: Language;
  format: FormatEvent;
  /** Whether they may see where somebody was, by the organization that this person belongs to. */
  isOpen: (personId: string | undefined, organizationId?: string) => boolean;
};

type FollowedMessage = ReturnType<typeof toMessage>;
/** An event of the log with all that decides what of it is shown. */
type FeedEvent = {
  event: LoggedEvent;
  origin: Origin | undefined;
  homeId: string | undefined;
  readAt: number;
  /** With three forms that it is told in, roughly: the object, JSON and binary. */
  bytes: number;
  /** Made once for all who may see the same of it: by language, and whether its origin is shown whole. */
  messages: Map<string, FollowedMessage>;
};

/** A part of the log, as one view shows it. */
export type FeedStep = {
  events: readonly FeedEvent[];
  /** How far the log has been looked through. */
  reached: bigint;
  /** There was nothing behind it. */
  isHead: boolean;
  /** When the oldest part of it was read. */
  readAt: number;
  /** The beat of the log before it was read. */
  beat: number;
};

export type Feed = Disposable & {
  /** What follows a position in a view; one read for all who ask for the same at about the same time. */
  next(view: LogView, from: { after: bigint; most: number }): Promise<FeedStep>;
  /** Resolves soon after the first commit that a step could not know. */
  heard(step: FeedStep): Promise<void>;
};

type Parts = Pick<Deps, "db" | "events" | "now"> & {
  queries: ReturnType<typeof eventQueries>;
  homesOf: HomesOf;
};

/** The feeds of all logs that somebody follows. A feed is there as long as it has followers. */
export function eventFeeds(parts: Parts): (log: string) => Feed {
  const feeds = new Map<string, { feed: Feed; followers: number }>();
  return (log) => {
    const joined = feeds.get(log) ?? { feed: createFeed(parts, log), followers: 0 };
    feeds.set(log, joined);
    joined.followers += 1;
    const { feed } = joined;
    return {
      next: feed.next,
      heard: feed.heard,
      [Symbol.dispose]() {
        joined.followers -= 1;
        if (joined.followers > 0) return;
        feeds.delete(log);
        feed[Symbol.dispose]();
      },
    };
  };
}

/** What a follower is told of an event. It is the same object for all who may see the same of it, encoded once. */
export function messageFor(of: FeedEvent, reader: FeedReader): FollowedMessage {
  const { origin } = of;
  const isOpen = origin !== undefined && reader.isOpen(origin.personId, of.homeId);
  const key = `${reader.language} ${isOpen}`;
  let message = of.messages.get(key);
  if (message === undefined) of.messages.set(key, (message = toMessage(of, reader.format, isOpen)));
  return message;
}

function toMessage({ event, origin }: FeedEvent, format: FormatEvent, isOpen: boolean) {
  const shown = origin && shownOrigin(origin, isOpen);
  return new CachedResponse({ sequence: event.sequence, event: toEvent(event, format, shown) });
}

function createFeed(parts: Parts, log: string): Feed {
  const { db, queries } = parts;
  const pulse = createPulse(db, log);
  const open = eventReader(parts, log);
  const steps = recentlyRead<string, { step: Promise<FeedStep>; isUsable: () => boolean }>();

  function read(view: LogView, from: { after: bigint; most: number }) {
    const beat = pulse.beat();
    const lookedAt = performance.now();
    let done: FeedStep | undefined;
    const load = async (): Promise<FeedStep> => {
      const { found, reached, isHead } = await queries.look(log, view, from);
      const events = await open(found);
      const readAt = Math.min(lookedAt, ...events.map((each) => each.readAt));
      return (done = { events, reached, isHead, readAt, beat });
    };
    // One that found nothing is as good as another only until something was committed.
    const isUsable = () =>
      performance.now() - lookedAt < reusedMs &&
      (done === undefined || done.reached > from.after || beat === pulse.beat());
    return { step: load(), isUsable };
  }

  return {
    next(view, from) {
      const key = `${from.after} ${from.most} ${view.key}`;
      const known = steps.find(key);
      if (known?.isUsable() === true) return known.step;
      const made = read(view, from);
      steps.store(key, made, entryBytes);
      made.step.then(
        ({ events }) => steps.resize(key, made, bytesOf(events)),
        () => steps.forget(key, made),
      );
      return made.step;
    },
    heard: ({ beat }) => pulse.heard(beat),
    [Symbol.dispose]: () => pulse[Symbol.dispose](),
  };
}

const bytesOf = (events: readonly FeedEvent[]): number =>
  events.reduce((sum, { bytes }) => sum + bytes, entryBytes);

type Opening = { readAt: number; event: Promise<FeedEvent | undefined> };

/** Reads whole events; those that were read lately are not read again, whichever view they were read for. */
function eventReader({ events, queries, homesOf, now }: Parts, log: string) {
  const known = recentlyRead<bigint, Opening>();

  async function open(some: readonly Sized[], readAt: number): Promise<Map<bigint, FeedEvent>> {
    const opened = await queries.open(log, some);
    const originIds = new Set(opened.flatMap(({ originId }) => originId ?? []));
    const origins = await events.origins.read(log, [...originIds], now());
    const people = new Set([...origins.values()].flatMap(({ personId }) => personId ?? []));
    const homes = await homesOf(log, [...people]);
    const sizes = new Map(some.map((each) => [each.sequence, sizeOf(each)]));
    return new Map(
      opened.map((event) => {
        const origin = event.originId === undefined ? undefined : origins.get(event.originId);
        const homeId = homes.get(origin?.personId ?? "");
        const bytes = sizes.get(event.sequence) ?? 0;
        return [
          event.sequence,
          { event, origin, homeId, readAt, bytes, messages: new Map<string, FollowedMessage>() },
        ];
      }),
    );
  }

  return async (found: readonly Sized[]): Promise<FeedEvent[]> => {
    const readAt = performance.now();
    const usable = new Map<bigint, Opening>();
    for (const { sequence } of found) {
      const opening = known.find(sequence);
      if (opening !== undefined && readAt - opening.readAt < reusedMs)
        usable.set(sequence, opening);
    }
    const missing = found.filter(({ sequence }) => !usable.has(sequence));
    const opened = missing.length === 0 ? undefined : open(missing, readAt);
    for (const each of missing) {
      const { sequence } = each;
      const event = opened?.then((all) => all.get(sequence)) ?? Promise.resolve(undefined);
      const opening = { readAt, event };
      usable.set(sequence, opening);
      known.store(sequence, opening, sizeOf(each));
      event.catch(() => known.forget(sequence, opening));
    }
    const openings = found.flatMap(({ sequence }) => usable.get(sequence) ?? []);
    const all = await Promise.all(openings.map(({ event }) => event));
    return all.filter((event) => event !== undefined);
  };
}

// The payload in three forms that it is told in: the object, JSON and binary.
const sizeOf = ({ size }: Sized): number => entryBytes + 3 * Number(size);

/** Keeps what was read for a quarter of a second, and 2 MiB of it by the sizes that are said: what came first goes first. */
function recentlyRead<K, V>() {
  const entries = new Map<K, { value: V; bytes: number; storedAt: number }>();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  function drop(key: K): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }
  function dropOld(): void {
    timer = undefined;
    const before = performance.now() - reusedMs;
    for (const [key, { storedAt }] of entries) {
      if (storedAt > before) break;
      drop(key);
    }
    if (entries.size > 0) dropOldLater();
  }
  function dropOldLater(): void {
    timer ??= setTimeout(dropOld, reusedMs).unref();
  }
  function store(key: K, value: V, size: number): void {
    drop(key);
    entries.set(key, { value, bytes: size, storedAt: performance.now() });
    bytes += size;
    for (const oldest of entries.keys()) {
      if (bytes <= mostReusedBytes) break;
      drop(oldest);
    }
    dropOldLater();
  }
  return {
    find: (key: K): V | undefined => entries.get(key)?.value,
    store,
    /** Says how large it has become, unless another was stored since. */
    resize(key: K, value: V, size: number): void {
      if (entries.get(key)?.value === value) store(key, value, size);
    },
    forget(key: K, value: V): void {
      if (entries.get(key)?.value === value) drop(key);
    },
  };
}
