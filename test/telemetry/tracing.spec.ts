// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requestSpan } from "../../src/api/request-span.ts";
import { tracingSettings } from "../../src/app/tracing.ts";
import { DomainError } from "../../src/errors.ts";
import { currentSpan, traced, type Tracing, within } from "../../src/telemetry/tracing.ts";
import { sources } from "../architecture/table.ts";
import { startCollector, tracingTo } from "./collector.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

describe("the variables of OpenTelemetry", () => {
  it("trace nothing unless one says where to send spans, or where one says not to", () => {
    const off: Record<string, string>[] = [
      {},
      { OTEL_SERVICE_NAME: "login", OTEL_TRACES_SAMPLER: "nonsense" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
      { ...endpoint, OTEL_SDK_DISABLED: "true" },
      { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
    ];
    for (const env of off) assert.equal(tracingSettings(env), undefined);
  });

  it("keep everything unless a sampler says otherwise", () => {
    const of = (env: Record<string, string>) => tracingSettings({ ...endpoint, ...env });
    const all = { ratio: 1, followsParent: true, timeoutMs: undefined };
    assert.deepEqual(of({}), all);
    const tenth = {
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    };
    assert.deepEqual(of(tenth), { ...all, ratio: 0.1 });
    assert.deepEqual(of({ OTEL_TRACES_SAMPLER: "always_off" }), {
      ...all,
      ratio: 0,
      followsParent: false,
    });
    assert.deepEqual(of({ OTEL_EXPORTER_OTLP_TIMEOUT: "500" }), { ...all, timeoutMs: 500 });
  });

  const wrong: [name: string, value: string, expected: RegExp][] = [
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318", /an http or https URL/],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", /http\/protobuf/],
    ["OTEL_TRACES_EXPORTER", "jaeger", /otlp/],
    ["OTEL_TRACES_SAMPLER", "sometimes", /always_on or /],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "1s", /milliseconds/],
  ];
  for (const [name, value, expected] of wrong) {
    it(`refuse ${name}=${value}, and say what would be right`, () => {
      assert.throws(
        () => tracingSettings({ ...endpoint, [name]: value }),
        (error: unknown) => {
          assert.ok(error instanceof DomainError);
          assert.equal(error.reason, "CONFIG_VALUE_WRONG");
          assert.equal(error.metadata["option"], name);
          assert.match(error.message, expected);
          return true;
        },
      );
    });
  }

  it("refuse a part of traces that is none", () => {
    const sampler = { OTEL_TRACES_SAMPLER: "traceidratio" };
    for (const part of ["2", "-1", "half", "1e-3"]) {
      const env = { ...endpoint, ...sampler, OTEL_TRACES_SAMPLER_ARG: part };
      assert.throws(
        () => tracingSettings(env),
        /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/,
      );
    }
  });
});

describe("what callers say of traces", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const said = `00-${traceId}-00f067aa0ba902b7-01`;
  const headers = {
    get: (name: string) => (name === "traceparent" ? said : undefined),
    names: () => ["traceparent"],
    count: () => 1,
  };
  const of = async (peer: string, isProxied: boolean) => {
    await using collector = await startCollector();
    await using tracing = await tracingTo(collector.url, {
      OTEL_TRACES_SAMPLER: "parentbased_always_off",
    });
    const start = { name: "call", kind: "server" } as const;
    const span = requestSpan(tracing, () => start, { headers, peer, isProxied }, true);
    return { isTheirs: span?.traceId === traceId, isSampled: span?.isSampled };
  };

  it("counts from trusted proxies, this machine and private networks", async () => {
    const believed = { isTheirs: true, isSampled: true };
    assert.deepEqual(await of("203.0.113.5", true), believed);
    for (const peer of ["127.0.0.1", "::1", "10.2.3.4", "fd00::1"]) {
      assert.deepEqual(await of(peer, false), believed, peer);
    }
  });

  it("counts from nobody else: strangers cannot have everything traced that they send", async () => {
    for (const peer of ["203.0.113.5", "2001:db8::1"]) {
      assert.deepEqual(await of(peer, false), { isTheirs: false, isSampled: false }, peer);
    }
  });
});

describe("work within a span", () => {
  async function using<T>(work: (tracing: Tracing) => Promise<T>) {
    await using collector = await startCollector();
    const tracing = await tracingTo(collector.url);
    await work(tracing);
    await tracing[Symbol.asyncDispose]();
    return collector.spans;
  }

  it("knows it, and ends it with what it failed of", async () => {
    const spans = await using((tracing) =>
      within(tracing.begin({ name: "outer", kind: "server" }, true), async (outer) => {
        assert.equal(currentSpan(), outer);
        const failed = traced({ name: "inner", kind: "internal" }, async (inner) => {
          assert.equal(currentSpan(), inner);
          throw new Error("a secret");
        });
        await assert.rejects(failed, /a secret/);
      }),
    );
    const [inner, outer] = spans;
    assert.equal(inner?.parentId, outer?.spanId);
    assert.equal(inner?.attributes["error.type"], "defect");
    assert.deepEqual([inner?.isError, outer?.isError], [true, false]);
    assert.ok(!JSON.stringify(spans).includes("secret"));
    assert.equal(currentSpan(), undefined);
  });

  it("tells of 32 attributes at most, of 200 characters each", async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`number ${at}`, at]));
    const [long, numerous] = await using(async (tracing) => {
      for (const attributes of [{ long: "x".repeat(500), short: "y" }, many])
        tracing.begin({ name: "span", kind: "internal", attributes }, true).end();
    });
    assert.deepEqual(long?.attributes, { long: "x".repeat(200), short: "y" });
    assert.equal(Object.keys(numerous?.attributes ?? {}).length, 32);
  });

  it("ends once", async () => {
    const spans = await using(async (tracing) => {
      const span = tracing.begin({ name: "once", kind: "internal" }, true);
      for (const failure of [undefined, "late"]) span.end(failure);
    });
    assert.deepEqual(
      spans.map(({ isError }) => isError),
      [false],
    );
  });

  it("joins a trace only before anything else was asked of its span", async () => {
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    await using(async (tracing) => {
      const early = tracing.begin({ name: "early", kind: "server" }, true);
      early.join({ traceparent });
      assert.equal(early.traceId, "ab".repeat(16));
      const late = tracing.begin({ name: "late", kind: "server" }, true);
      const { traceId } = late;
      late.join({ traceparent });
      assert.equal(late.traceId, traceId);
    });
  });
});

describe("the libraries of OpenTelemetry", () => {
  it("are imported by three files, which are loaded only where there is tracing", () => {
    const users = sources.filter(({ imports }) =>
      imports.some((each) => each.startsWith("@opentelemetry/")),
    );
    assert.deepEqual(
      users.map(({ path }) => path),
      ["telemetry/opentelemetry.ts", "telemetry/span-batches.ts", "telemetry/span-encoder.ts"],
    );
    const usersOf = (file: string) => sources.filter(({ text }) => text.includes(`/${file}`));
    const loaders = usersOf("opentelemetry.ts");
    assert.deepEqual(
      [...loaders, ...usersOf("span-batches.ts"), ...usersOf("span-encoder.ts")].map(
        ({ path }) => path,
      ),
      ["app/tracing.ts", "telemetry/opentelemetry.ts", "telemetry/span-batches.ts"],
    );
    assert.match(loaders[0]?.text ?? "", /await import\("\.\.\/telemetry\/opentelemetry\.ts"\)/);
    assert.doesNotMatch(loaders[0]?.text ?? "", /^import [^;]*opentelemetry\.ts/m);
  });
});
