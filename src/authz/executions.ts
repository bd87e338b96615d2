import type { JsonValue } from "@bufbuild/protobuf";
import type { Awaitable } from "../awaitable.ts";

/** One call that has executions. The messages are JSON as the service writes it (A5). */
export type HookedCall = {
  facts: {
    /** `/<package>.<Service>/<Method>` */
    fullMethod: string;
    instanceId: string;
    organizationId: string;
    userId: string;
    /** The OAuth client that calls; empty where there is none. */
    clientId: string;
  };
  depth: number;
  signal: AbortSignal | undefined;
  /** With its secrets or without. */
  request: (secrets: boolean) => JsonValue;
  /** Takes what somebody who saw it so made of the request: proves it valid and permitted, or throws. */
  takeRequest: (json: JsonValue, secrets: boolean) => Awaitable<void>;
};

export type HookedResponse = {
  response: (secrets: boolean) => JsonValue;
  takeResponse: (json: JsonValue, secrets: boolean) => Awaitable<void>;
};

/**
 * Runs the targets of the request, then the work, then the targets of the response. Asynchronous targets are called when
 * that is over; they are on disk before the caller hears anything.
 */
export type RunAround = (call: HookedCall, work: () => Promise<HookedResponse>) => Promise<void>;

/** The port that calls of the API go through (X5). */
export interface CallExecutions {
  /** What runs around calls of the method; once a method. Undefined where nothing does, which costs a look at a map. */
  of(fullMethod: string): (instanceId: string) => Awaitable<RunAround | undefined>;
}
