import { AsyncResource } from "node:async_hooks";
import type { ServerResponse } from "node:http";

/** At most so many responses wait for each other. */
const mostWaiting = 64;

type Ending = {
  response: ServerResponse;
  body: Uint8Array | string | undefined;
  isAscii: boolean;
  /** Others need not wait for it: it is written after those that are not. */
  isLate: boolean;
};

let waiting: Ending[] = [];

/**
 * Response coalescing: ends a response whose head is written together with the others of this turn of the event loop.
 *
 * A lone answer leaves as soon as everything that had arrived with its request was looked at, which is at once. Written
 * one by one, the answers of a busy turn would each wake the client (or its processor) for one of them: on a virtual
 * machine a bare answer took up to twice the time of our processor.
 */
export function endCoalesced(ending: Ending): void {
  waiting.push(ending);
  if (waiting.length === 1) setImmediate(endAll);
  else if (waiting.length === mostWaiting) endAll();
}

/** Runs in the context of no request: what follows from one response, such as a line of the log, belongs to no span of another. */
const endAll = AsyncResource.bind((): void => {
  const endings = lateLast(waiting);
  waiting = [];
  for (const { response, body, isAscii } of endings) {
    // Who has gone meanwhile is not written to.
    if (response.destroyed) continue;
    // ASCII, as most texts are, is sent twice as quickly when it is called so.
    if (typeof body === "string" && isAscii) response.end(body, "latin1");
    else response.end(body);
  }
});

const lateLast = (endings: readonly Ending[]): readonly Ending[] =>
  endings.some(({ isLate }) => isLate)
    ? [...endings.filter(({ isLate }) => !isLate), ...endings.filter(({ isLate }) => isLate)]
    : endings;
