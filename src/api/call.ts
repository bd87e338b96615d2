import type { Message } from "@bufbuild/protobuf";
import type { Awaitable } from "../awaitable.ts";
import type { Caller, RequestedContext, Scope } from "../authz/context.ts";
import { noPermissions, type Permissions } from "../authz/permissions.ts";
import type { MethodRule } from "./method-rule.ts";

/** `page`: a page of the service calls for the person whose browser shows it. */
export type Protocol = "grpc" | "grpc-web" | "connect" | "rest" | "page";

/** The headers of a call as the edge saw them. */
export type CallHeaders = {
  /** The value of a header; several are joined as HTTP says. Names are lower case. */
  get(name: string): string | undefined;
  /** The names of the headers that were sent. */
  names(): Iterable<string>;
  /** How often the header was sent: Node keeps only one `authorization`. */
  count(name: string): number;
};

/** What a protocol brings: everything of a call before its body is read. */
export type Incoming = {
  protocol: Protocol;
  headers: CallHeaders;
  /** Host and port as the client wrote them. */
  host: string;
  scheme: "http" | "https";
  peer: string;
  /** A trusted proxy has handed it on. */
  isProxied: boolean;
  requestId: string;
  /** Reads and decodes the body. It is called once, after the caller is known. */
  decode: () => Awaitable<Message>;
  /** What the client allows, in milliseconds. */
  timeoutMs: number | undefined;
  /** The body as it comes, for a method whose handler reads it itself (option `stream_body`). */
  openBody?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Who calls, where a page of the service has found that out; nothing that comes over the port can say it. */
  vouched?: { caller: Caller; browser: string } | undefined;
};

/** One call on its way through the interceptors. Each fills in what it found. */
export type Call = Incoming & {
  readonly rule: MethodRule;
  request: Message | undefined;
  instanceId: string;
  /** The instance answers system callers only. */
  isBlocked: boolean;
  issuer: string;
  caller: Caller | undefined;
  permissions: Permissions;
  context: RequestedContext;
  /** The sequence that the object must be at for the call to change it. */
  expectedSequence: bigint | undefined;
  answer: Scope["answer"];
  guard: Scope["guard"];
  /** Aborts the work of the call: the caller has gone, or the deadline has passed. */
  abort: AbortController | undefined;
  /** Whether nobody waits for the call any more. */
  gone: boolean;
  onGone: (() => void) | undefined;
};

export const newCall = (rule: MethodRule, incoming: Incoming): Call => ({
  // Named one by one: copying what one does not know costs ten times as much.
  protocol: incoming.protocol,
  headers: incoming.headers,
  host: incoming.host,
  scheme: incoming.scheme,
  peer: incoming.peer,
  isProxied: incoming.isProxied,
  requestId: incoming.requestId,
  decode: incoming.decode,
  timeoutMs: incoming.timeoutMs,
  openBody: incoming.openBody,
  vouched: incoming.vouched,
  rule,
  request: undefined,
  instanceId: "",
  isBlocked: false,
  issuer: "",
  caller: undefined,
  permissions: noPermissions,
  context: { type: "instance" },
  expectedSequence: undefined,
  answer: {},
  guard: undefined,
  abort: undefined,
  gone: false,
  onGone: undefined,
});

/**
 * One step around a call. It throws to refuse, and calls `next` at most once. Of a unary call `next` gives the answer, of
 * a streaming one the opened stream.
 */
export type Around = <R>(call: Call, next: () => Promise<R>) => Promise<R>;

/** One step on the way to the handler: it throws or rejects to refuse. A promise only where it really has to wait. */
export type Check = { check: (call: Call) => Awaitable<void> };

export type Interceptor = Around | Check;

/** Makes the step for one method, or nothing where the method has no need of it. */
export type InterceptorFactory = (rule: MethodRule) => Interceptor | undefined;

/**
 * Composes steps, outermost first, around the innermost work; once a method, not once a call. Where no step turns what a
 * check throws into a rejection, the whole throws.
 */
export function compose<R>(
  steps: readonly Interceptor[],
  work: (call: Call) => Promise<R>,
): (call: Call) => Promise<R> {
  return steps.reduceRight<(call: Call) => Promise<R>>((inner, step) => {
    if (typeof step === "function") return (call) => step(call, () => inner(call));
    return (call) => {
      const waiting = step.check(call);
      return waiting === undefined ? inner(call) : waiting.then(() => inner(call));
    };
  }, work);
}

/** Tells a running call that nobody waits for it any more: its caller has gone, or its deadline has passed. */
export function leave(call: Call): void {
  call.gone = true;
  call.abort?.abort();
  call.onGone?.();
}
