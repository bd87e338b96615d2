import { type DestinationStream, destination, type LevelWithSilent, type Logger, pino } from "pino";
import { DomainError } from "../errors.ts";
import { currentSpan } from "./tracing.ts";

export type { Logger } from "pino";
export type LogLevel = LevelWithSilent;

/** The levels a logger can have, loudest first; each includes those after it, `silent` says nothing. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

// Names of fields that carry credentials; hidden in snake, kebab and camel case, in any letter case.
const secretNames = [
  "authorization",
  "proxy_authorization",
  "cookie",
  "set_cookie",
  "password",
  "secret",
  "token",
  "assertion",
  "access_token",
  "refresh_token",
  "id_token",
  "id_token_hint",
  "client_secret",
  "client_assertion",
  "code_verifier",
  "master_key",
];
const plain = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, "");
const camel = (name: string) =>
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const secretPlainNames = new Set(secretNames.map(plain));
const hidden = "[hidden]";
// Serializers are all that pino asks about the fields of a child logger.
const hiddenAtTheTop = Object.fromEntries(
  secretNames
    .flatMap((name) => [name, camel(name), name.replaceAll("_", "-")])
    .map((name) => [name, () => hidden]),
);
const maxDepth = 5;

/**
 * A logger of JSON lines, one object a line, control characters escaped; by default to standard output.
 *
 * Time is ISO 8601 in UTC, the level is its word. Under `err` goes the whole error with its private half: kind, reason,
 * metadata and causes. Lines of work that is traced name the trace. Fields that carry credentials by name are hidden, and messages of the
 * contract are told by their type alone, which is the last net and no permission to log them.
 */
export function createLogger(
  level: LogLevel,
  stream: DestinationStream = coalesced(() => destination({ fd: 1, sync: false })),
): Logger {
  return pino(
    {
      level,
      base: { service: "idsvc" },
      mixin: traceOfLine,
      // By properties of their own: a line may have one of the name `__proto__`.
      mixinMergeStrategy: (line, trace) => (isTraced(trace) ? { ...trace, ...line } : line),
      timestamp: () => `,"time":"${isoNow()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: hideSecrets,
      },
      serializers: {
        ...hiddenAtTheTop,
        err: (err: unknown) => (err instanceof Error ? errorFacts(err) : err),
      },
    },
    stream,
  );
}

function traceOfLine(): { traceId?: string } {
  const traceId = currentSpan()?.traceId;
  return traceId === undefined ? untraced : { traceId };
}
const untraced = {};
const isTraced = (trace: object): boolean => trace !== untraced;

let millisecond = 0;
let text = "";

/** The time in ISO 8601, UTC; written once a millisecond. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    text = new Date(now).toISOString();
  }
  return text;
}

// What a process that is killed may lose of its log.
const longestDelayMs = 10;

/** Sends the lines of some milliseconds in one write, and at the end of the process what is left. */
function coalesced(open: () => ReturnType<typeof destination>): DestinationStream {
  let lines = "";
  const send = () => {
    const sent = lines;
    lines = "";
    if (sent !== "") out.write(sent);
  };
  const out = open();
  // Before the destination flushes and closes itself at the same event.
  process.prependListener("exit", send);
  return {
    write(line) {
      if (lines === "") setTimeout(send, longestDelayMs);
      lines += line;
    },
    // pino calls these for a fatal line and when it is asked to flush.
    flushSync() {
      send();
      out.flushSync();
    },
    flush(done: (error?: Error) => void) {
      send();
      out.flush(done);
    },
  } as DestinationStream;
}

/** A logger that says nothing, for tests and commands that print. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}

// pino's own redaction costs 25 microseconds a line for this many names, more than a whole request; this costs two.
function hideSecrets(logged: Record<string, unknown>): Record<string, unknown> {
  return shownEntries(logged, 1);
}

function shownValue(name: string, value: unknown, depth: number): unknown {
  if (isSecretName(name)) return hidden;
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Error) return errorFacts(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // A message of the contract: only its descriptor knows which of its fields are secret, so none is shown.
  if ("$typeName" in value) return `[${String(value.$typeName)}]`;
  if ("toJSON" in value) return value;
  if (depth >= maxDepth) return "[deeper]";
  if (Array.isArray(value)) return value.map((each) => shownValue("", each, depth + 1));
  return shownEntries(value, depth + 1);
}

function shownEntries(value: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      // pino looks every name up in an object of its own, which throws for this one under --disable-proto=throw.
      .filter(([name]) => name !== "__proto__")
      .map(([name, each]) => [name, shownValue(name, each, depth)]),
  );
}

const knownNames = new Map<string, boolean>();

function isSecretName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const secret = secretPlainNames.has(plain(name));
  // Field names may come from outside (a logged map): remember so many, no more.
  if (knownNames.size < 1000) knownNames.set(name, secret);
  return secret;
}

// Named facts only: a driver's error may carry the statement's values, a request error the whole request.
function errorFacts(error: Error, depth = 0): Record<string, unknown> {
  const facts = { type: error.name, message: error.message, stack: error.stack };
  const domain =
    error instanceof DomainError
      ? { kind: error.kind, reason: error.reason, metadata: error.metadata }
      : {};
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause =
    error.cause instanceof Error && depth < 4 ? { cause: errorFacts(error.cause, depth + 1) } : {};
  return { ...facts, ...domain, ...code, ...cause };
}
