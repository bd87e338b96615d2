import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { transport } from "../calls.ts";
import { contextOf } from "../declared/declare.ts";
import { useRights } from "../rights.ts";

const restMs = 1_000;
const againMs = 5_000;

function onSeen(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

/**
 * Calls back when something of some kinds has happened in the organization or instance, while the page is seen: one that
 * is not holds no connection, of which a browser has few for a host.
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
  const isWatched = types !== undefined && may(EventService.method.watchEvents, place);
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
    const filters = named === "" ? [] : [{ types: { types: named?.split(" ") ?? [] } }];
    void watch({ ...contextOf(org), filters }, end.signal, now);
    return () => {
      end.abort();
      wasHidden.current = document.visibilityState !== "visible";
    };
  }, [isWatching, named, org]);
}

async function watch(
  asked: JsonObject,
  signal: AbortSignal,
  now: { readonly current: { changed: () => void; calls: number } },
) {
  const client = createClient(EventService, transport);
  const request = fromJson(EventService.method.watchEvents.input, asked);
  let waiting: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(waiting));
  while (!signal.aborted) {
    try {
      for await (const { event } of client.watchEvents(request, { signal })) {
        if (event === undefined || waiting !== undefined) continue;
        waiting = setTimeout(() => {
          waiting = undefined;
          now.current.changed();
        }, restMs * now.current.calls);
      }
    } catch {
      // What ended it, the next call that is shown says too.
    }
    await new Promise((resolve) => void setTimeout(resolve, againMs));
  }
}
