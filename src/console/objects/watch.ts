import { fromJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { useEffect, useRef } from "react";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { transport } from "../calls.ts";
import { contextOf } from "../declared/declare.ts";
import { useRights } from "../rights.ts";

const restMs = 1_000;
const againMs = 5_000;

/** Calls back when something has happened in the organization or instance, at most once a second while the page is seen. */
export function useWatch(isOn: boolean, org: string | undefined, changed: () => void): void {
  const { may } = useRights();
  const place = org === undefined ? { isInstance: true as const } : { organizationId: org };
  const isWatching = isOn && may(EventService.method.watchEvents, place);
  const callback = useRef(changed);
  useEffect(() => void (callback.current = changed));
  useEffect(() => {
    if (!isWatching) return;
    const end = new AbortController();
    void watch(org, end.signal, () => callback.current());
    return () => end.abort();
  }, [isWatching, org]);
}

async function watch(org: string | undefined, signal: AbortSignal, changed: () => void) {
  const client = createClient(EventService, transport);
  const request = fromJson(EventService.method.watchEvents.input, contextOf(org));
  let waiting: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(waiting));
  while (!signal.aborted) {
    try {
      for await (const { event } of client.watchEvents(request, { signal })) {
        if (event === undefined || waiting !== undefined) continue;
        waiting = setTimeout(() => {
          waiting = undefined;
          if (document.visibilityState === "visible") changed();
        }, restMs);
      }
    } catch {
      // What ended it, the next call that is shown says too.
    }
    await new Promise((resolve) => void setTimeout(resolve, againMs));
  }
}
