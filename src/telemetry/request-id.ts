import { randomBytes } from "node:crypto";

const processPart = randomBytes(9).toString("base64url");
let calls = 0;

/** The header of every answer that names its request, as the log does. */
export const requestIdHeader = "x-request-id";

/** The header with which calls of targets, and what they call here in turn, tell how deep they are. */
export const depthHeader = "idsvc-depth";
/** Calls of targets back into the service go no deeper (X10). */
export const deepest = 3;

/**
 * Names one request in logs, errors and events: unique, and no secret. One that a called target makes tells how deep it
 * is, `<id>.d2`: an event has its request, so the depth outlives the call.
 */
export const newRequestId = (depth = 0): string =>
  `${processPart}-${(calls++).toString(36)}${depth === 0 ? "" : `.d${depth}`}`;

/** How deep the request of this id was; 0 for one from outside. */
export const depthOf = (requestId: string): number => Number(/\.d(\d)$/.exec(requestId)?.[1] ?? 0);

/**
 * How deep the call with this header is. The header is not signed: a caller who makes it up can only have their own calls
 * refused. What is no depth counts as the deepest.
 */
export function statedDepth(header: string | undefined): number {
  if (header === undefined) return 0;
  return /^\d$/.test(header) ? Math.min(Number(header), deepest) : deepest;
}
