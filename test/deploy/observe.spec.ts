// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { metricsHeaders, startTestApp, type TestApp } from "../support/app.ts";
import { type Collector, startCollector, tracingTo } from "../telemetry/collector.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
};
type Panel = { title: string; targets: { expr: string }[] };
const rules: Rule[] = parse(read("deploy/observe/alerts.yaml")).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const { panels }: { panels: Panel[] } = JSON.parse(read("deploy/observe/dashboard.json"));

/** Metrics of Prometheus itself. */
const ofPrometheus = new Set(["up"]);

let app: TestApp;
let collector: Collector;
/** The metrics that the service has, each with its labels. */
const metrics = new Map<string, Set<string>>();

before(async () => {
  collector = await startCollector();
  const tracing = await tracingTo(collector.url);
  app = await startTestApp({ tracing });
  // Some series are there only once something was counted.
  await fetch(`${app.url}/resources/v3alpha/targets/_search`, { method: "POST" });
  const text = await (await fetch(`${app.url}/metrics`, { headers: metricsHeaders })).text();
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const parts = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    for (const part of parts) metrics.set(`${name}${part}`, new Set());
  }
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z]\w*)\{(.*)\} \S+$/gm)) {
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) metrics.get(name)?.add(label);
  }
  await tracing[Symbol.asyncDispose]();
});
after(async () => {
  await app[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

/** What an expression reads: names of metrics, and the labels that it chooses by. */
function readBy(expression: string): { name: string; labels: string[] }[] {
  const bare = expression.replaceAll(/\b(?:by|without) \([^)]*\)/g, "").replaceAll("$__rate_", "");
  const found = bare.matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/g);
  return [...found]
    .map(([, name = "", chosen = ""]) => ({
      name,
      labels: [...chosen.matchAll(/(\w+)\s*[=!]/g)].map(([, label = ""]) => label),
    }))
    .filter(({ name }) => /^(?:idsvc|nodejs|process|up)/.test(name));
}

function isTold(expression: string): void {
  const used = readBy(expression);
  assert.ok(used.length > 0, `${expression} reads nothing`);
  for (const { name, labels } of used) {
    if (ofPrometheus.has(name)) continue;
    const known = metrics.get(name);
    assert.ok(known !== undefined, `the service has no metric ${name}`);
    // Where nothing was counted yet the labels cannot be seen.
    if (known.size === 0) continue;
    for (const label of labels) assert.ok(known.has(label), `${name} has no label ${label}`);
  }
}

describe("the alerts", () => {
  for (const { alert, expr, labels, annotations } of rules) {
    it(`${alert} reads what the service tells, and has a runbook`, () => {
      isTold(expr);
      assert.match(labels.severity, /^(?:critical|warning|info)$/);
      const [path = "", anchor] = annotations.runbook.split("#");
      assert.equal(anchor, alert.toLowerCase());
      assert.ok(read(path).includes(`\n## ${alert}\n`));
    });
  }

  it("are those that runbooks are there for", () => {
    const pages = [...read("docs/runbooks.md").matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      pages,
      rules.map(({ alert }) => alert),
    );
  });

  it("run by commands and metrics that there are, in their runbooks too", () => {
    for (const [, expression = ""] of read("docs/runbooks.md").matchAll(/`(sum by [^`]+)`/g)) {
      isTold(expression);
    }
  });
});

describe("the dashboard", () => {
  for (const { title, targets } of panels) {
    it(`reads what the service tells: ${title}`, () => {
      for (const { expr } of targets) isTold(expr);
    });
  }
});
