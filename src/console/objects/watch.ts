import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { useEffect, useRef } from "react";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { transport } from "../calls.ts";
import { contextOf } from "../declared/declare.ts";
import { useRights } from "../rights.ts";

const restMs = 1_000;
const againMs = 5_000;

/**
 * Calls back when something of some kinds has happened in the organization or instance, while the page is seen.
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
  const isWatching = types !== undefined && may(EventService.method.watchEvents, place);
  const now = useRef({ changed, calls });
  useEffect(() => void (now.current = { changed, calls }));
  const named = types?.join(" ");
  useEffect(() => {
    if (!isWatching) return;
    const end = new AbortController();
    const filters = named === "" ? [] : [{ types: { types: named?.split(" ") ?? [] } }];
    void watch({ ...contextOf(org), filters }, end.signal, now);
    return () => end.abort();
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
          if (document.visibilityState === "visible") now.current.changed();
        }, restMs * now.current.calls);
      }
    } catch {
      // What ended it, the next call that is shown says too.
    }
    await new Promise((resolve) => void setTimeout(resolve, againMs));
  }
}
