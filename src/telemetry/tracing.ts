import { AsyncLocalStorage } from "node:async_hooks";
import { DomainError } from "../errors.ts";

/**
 * What is said of a piece of work: words of closed sets, numbers, ids that the service has given, hosts that are called.
 * Never what a person has entered, an address, or anything that is secret.
 */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** `server`: a request from outside; `client`: a call to the outside; `consumer`: work that is due; `internal`: all other. */
export type SpanKind = "server" | "client" | "consumer" | "internal";

/** `attributes` are those of this span alone: it keeps the object and adds to it. */
export type SpanStart = {
  name: string;
  kind: SpanKind;
  attributes?: Record<string, Attributes[string]>;
};

/** A piece of work, from its beginning to its end, as a part of a trace. */
export type Span = {
  readonly traceId: string;
  /** Whether it will be told; of others nothing is kept. */
  readonly isSampled: boolean;
  /** The headers by which whoever is called joins the trace (W3C Trace Context). */
  headers(): Record<string, string>;
  child(start: SpanStart): Span;
  note(attributes: Attributes): void;
  /**
   * Makes it a part of the trace that these headers name. Only before anything else was asked of it: what has begun a trace
   * of its own stays in that.
   */
  join(headers: Record<string, string>): void;
  /** @param failure the reason of a refusal, or `defect` */
  end(failure?: string): void;
};

export type RemoteHeaders = { get(name: string): string | undefined };

export type SpanCounts = { made: number; delivered: number; lost: number };

/** What keeps spans and sends them on. Nothing here waits for their delivery. */
export type Tracing = AsyncDisposable & {
  /** Whether one of the traces that begin here is kept: drawn anew each time. */
  draw(): boolean;
  /**
   * A span in no other, kept if it `isDrawn`. `remote` are headers that may say whose part it is, and that are to be believed:
   * then whoever began that has decided.
   */
  begin(start: SpanStart, isDrawn: boolean, remote?: RemoteHeaders): Span;
  counts(): SpanCounts;
};

const running = new AsyncLocalStorage<Span>();

/** The span that the running work belongs to; none where nothing is traced. */
export const currentSpan = (): Span | undefined => running.getStore();

/** Whether parts of the running work are told. */
export const isTraced = (): boolean => running.getStore()?.isSampled === true;

/** Runs work as a part of the running span. Where there is none, or none that is told, only the work is done. */
export function traced<T>(
  start: SpanStart,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = running.getStore();
  return span?.isSampled ? within(span.child(start), work) : work(span);
}

/** Runs work within a span, which ends with it. */
export async function within<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await running.run(span, work, span);
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof DomainError ? error.reason : "defect");
    throw error;
  }
}
