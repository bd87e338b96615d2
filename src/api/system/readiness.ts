import type { Answer } from "../exchange.ts";

/** Whether the process wants traffic, and who must hear of it. */
export type Readiness = {
  isReady(): boolean;
  set(ready: boolean): void;
  /** Says that something stands in the way, in words for whoever operates the service; undefined when nothing does. */
  impede(by: string | undefined): void;
  /** What stands in the way. */
  impediment(): string | undefined;
  /** Calls the listener after each change; the answer ends that. */
  onChange(listener: () => void): () => void;
};

/** A readiness that begins as not ready: traffic comes once the start is done (H4 for the end). */
export function createReadiness(): Readiness {
  let ready = false;
  let impediment: string | undefined;
  const listeners = new Set<() => void>();

  function change(make: () => void): void {
    const before = ready && impediment === undefined;
    make();
    if ((ready && impediment === undefined) === before) return;
    for (const listener of listeners) listener();
  }

  return {
    isReady: () => ready && impediment === undefined,
    impediment: () => impediment,
    set(value) {
      change(() => (ready = value));
    },
    impede(by) {
      change(() => (impediment = by));
    },
    onChange(listener) {
      // Wrapped, so that a function given twice is two listeners.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** What is answered at a path without a call: who asks wants to know whether, not what. */
export type Probes = ReadonlyMap<string, () => Answer>;

/** Liveness and readiness for load balancers: `/healthz` and `/readyz`, and the same below `/debug` (A10). */
export function probes(readiness: Readiness): Probes {
  const live = () => answer(200, "text/plain; charset=utf-8", "ok");
  const ready = () => {
    const [code, status] = readiness.isReady() ? [200, "ready"] : [503, "not ready"];
    const reason = readiness.impediment();
    return answer(code, "application/json", JSON.stringify({ status, reason }));
  };
  return new Map([
    ["/healthz", live],
    ["/debug/healthz", live],
    ["/readyz", ready],
    ["/debug/ready", ready],
  ]);
}

const answer = (status: number, contentType: string, body: string): Answer => ({
  status,
  headers: { "content-type": contentType, "cache-control": "no-store" },
  body,
});
