// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mergeMetrics } from "../../src/telemetry/merge-metrics.ts";
import { toOpenMetrics } from "../../src/telemetry/open-metrics.ts";

const part = (count: number, exemplar = "") =>
  toOpenMetrics(
    `# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{code="ok"} ${count}\n\n# HELP time Time.\n# TYPE time histogram\ntime_bucket{le="1"} ${count}${exemplar}\n`,
  );

describe("metrics of several processes in the format of OpenMetrics", () => {
  it("are added up, and a bucket keeps an exemplar of one of them", () => {
    const exemplar = ' # {trace_id="ab"} 0.5 1.000';
    const parts = [
      { worker: 0, text: part(2, exemplar) },
      { worker: 1, text: part(3) },
    ];
    assert.equal(
      toOpenMetrics(mergeMetrics(parts)),
      `# HELP calls Calls.\n# TYPE calls counter\ncalls_total{code="ok"} 5\n# HELP time Time.\n# TYPE time histogram\ntime_bucket{le="1"} 5${exemplar}\n# EOF\n`,
    );
  });
});
