import type { Logger } from "pino";
import { version } from "../build.ts";
import { type DomainError, failedPrecondition } from "../errors.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { configValueWrong } from "./config.ts";

type Env = Readonly<Record<string, string | undefined>>;

type Settings = { ratio: number; followsParent: boolean; timeoutMs: number | undefined };

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
];
const endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/**
 * The tracing that the standard variables of OpenTelemetry ask for: nothing, and nothing is loaded, unless one of them says
 * where to send spans.
 *
 * @throws INVALID_ARGUMENT CONFIG_VALUE_WRONG; FAILED_PRECONDITION TRACING_NOT_INSTALLED where the SDK is not installed, which is
 * an optional dependency
 */
export async function tracingOf(env: Env, logger: Logger): Promise<Tracing | undefined> {
  const settings = tracingSettings(env);
  if (settings === undefined) return undefined;
  const { openTelemetry } = await import("../telemetry/opentelemetry.ts").catch((error) => {
    throw isNotFound(error) ? notInstalled(error) : error;
  });
  return openTelemetry({ ...settings, version }, (error) => {
    // Its message alone: an error of the exporter may hold the address with what stands in it.
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    logger.warn({ code }, "traces cannot be delivered: spans are dropped until they can");
  });
}

const isNotFound = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";

function notInstalled({ message }: Error): DomainError {
  const [, missing = "the SDK of OpenTelemetry"] = /'(@opentelemetry\/[^']+)'/.exec(message) ?? [];
  return failedPrecondition(
    "TRACING_NOT_INSTALLED",
    `traces are asked for (OTEL_EXPORTER_OTLP_*), and ${missing} is not installed: install with optional packages (npm install --include=optional), or set OTEL_SDK_DISABLED=true`,
    { metadata: { missing } },
  );
}

/** @throws INVALID_ARGUMENT CONFIG_VALUE_WRONG */
export function tracingSettings(env: Env): Settings | undefined {
  const endpoint = endpoints.find((name) => given(env, name) !== undefined);
  const isOff =
    given(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true" ||
    given(env, "OTEL_TRACES_EXPORTER") === "none";
  if (endpoint === undefined || isOff) return undefined;
  const url = URL.parse(given(env, endpoint) ?? "");
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw wrong(endpoint, "an http or https URL");
  }
  require(env, "OTEL_TRACES_EXPORTER", ["otlp"]);
  require(env, "OTEL_EXPORTER_OTLP_PROTOCOL", ["http/protobuf"]);
  require(env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", ["http/protobuf"]);
  require(env, "OTEL_TRACES_SAMPLER", samplers);
  const sampler = given(env, "OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const usual = sampler.endsWith("always_off") ? 0 : 1;
  return {
    ratio: sampler.endsWith("traceidratio") ? ratioOf(env) : usual,
    followsParent: sampler.startsWith("parentbased_"),
    timeoutMs: timeoutOf(env),
  };
}

/** An empty variable counts as one that is not set, as OpenTelemetry says. */
const given = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

function require(env: Env, name: string, words: readonly string[]): void {
  const value = given(env, name);
  if (value !== undefined && !words.includes(value)) throw wrong(name, words.join(" or "));
}

function ratioOf(env: Env): number {
  const name = "OTEL_TRACES_SAMPLER_ARG";
  const value = given(env, name) ?? "1";
  const ratio = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw wrong(name, "a number from 0 to 1");
}

function timeoutOf(env: Env): number | undefined {
  const name = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"].find(
    (each) => given(env, each) !== undefined,
  );
  if (name === undefined) return undefined;
  const value = given(env, name) ?? "";
  if (/^\d{1,5}$/.test(value) && Number(value) > 0) return Number(value);
  throw wrong(name, "a number of milliseconds from 1 to 99999");
}

const wrong = (option: string, expected: string) =>
  configValueWrong(`${option} must be ${expected}`, { option, expected });
