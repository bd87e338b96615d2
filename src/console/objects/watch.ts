import { useEffect, useRef, useSyncExternalStore } from "react";
import { servicePort } from "../declared/service-port.ts";
import type { LogWatch } from "../ports.ts";
import { useRights } from "../rights.ts";

const restMs = 1_000;
const againMs = 5_000;
/** Of all pages of a browser one holds a stream. */
const streamName = "idsvc-console-watch";

function onSeen(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

/**
 * Calls back when something of some kinds has happened in the organization or instance, while the page is seen. A browser has
 * six connections for a host, and a stream takes one of them for as long as it flows: so one page of those that are seen has a stream, and
 * the others call back every few seconds, whatever happened. So do all of them where pages have no locks, as at another machine without TLS.
 *
 * @param types names and groups of events, none for all; nothing is watched without them
 * @param calls how many calls follow from it: there is at most one a second
 */
export function useWatch(
  { types, org, calls }: { types: readonly string[] | undefined; org?: string; calls: number },
  changed: () => void,
): void {
  const { may } = useRights();
  const place = org === undefined ? { isInstance: true as const } : { organizationId: org };
  const isSeen = useSyncExternalStore(onSeen, () => document.visibilityState === "visible");
  const isWatched = types !== undefined && may(servicePort.log.method, place);
  const isWatching = isWatched && isSeen;
  const now = useRef({ changed, calls });
  useEffect(() => void (now.current = { changed, calls }));
  const wasHidden = useRef(false);
  const named = types?.join(" ");
  useEffect(() => {
    if (!isWatching) return;
    // What happened while nobody saw the page.
    if (wasHidden.current) now.current.changed();
    wasHidden.current = false;
    const end = new AbortController();
    const asked = { types: named?.split(" ").filter((each) => each !== "") ?? [], org };
    void watch(asked, end.signal, now);
    return () => {
      end.abort();
      wasHidden.current = document.visibilityState !== "visible";
    };
  }, [isWatching, named, org]);
}

type Asked = Parameters<LogWatch["follow"]>[0];
type Changed = { readonly current: { changed: () => void; calls: number } };

async function watch(asked: Asked, signal: AbortSignal, now: Changed) {
  const begun = performance.now();
  // What happened since the page was read, and before there was a stream.
  const opened = () => {
    if (performance.now() - begun > restMs) now.current.changed();
  };
  while (!signal.aborted) {
    const patienceMs = againMs * now.current.calls;
    const hasFollowed = await inTurn(patienceMs, signal, () =>
      follow(asked, { signal, now, opened }),
    );
    if (signal.aborted) return;
    if (hasFollowed) await rest(againMs, signal);
    else now.current.changed();
  }
}

/** Has the one stream of the browser, or waits for a while in vain. */
async function inTurn(patienceMs: number, signal: AbortSignal, work: () => Promise<void>) {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) {
    await rest(patienceMs, signal);
    return false;
  }
  let isFirst = false;
  const turn = locks.request(streamName, { signal: waiting }, async () => {
    isFirst = true;
    await work();
  });
  // It was not its turn in time.
  await turn.catch(() => undefined);
  return isFirst;
}

/** Until the stream ends. */
async function follow(
  asked: Asked,
  { signal, now, opened }: { signal: AbortSignal; now: Changed; opened: () => void },
) {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(waiting));
  try {
    for await (const { isEvent } of servicePort.log.follow(asked, { signal, opened })) {
      if (!isEvent || waiting !== undefined) continue;
      waiting = setTimeout(() => {
        waiting = undefined;
        now.current.changed();
      }, restMs * now.current.calls);
    }
  } catch {
    // What ended it, the next call that is shown says too.
  }
}

const rest = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const waiting = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(waiting);
      resolve();
    });
  });
