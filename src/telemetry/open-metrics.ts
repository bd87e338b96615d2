/** The format of OpenMetrics, which Prometheus asks for, and without which it takes no exemplars. */
export const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Whether whoever asks for metrics takes them in that format. */
export const takesOpenMetrics = (accept: string | undefined): boolean =>
  accept?.toLowerCase().includes("application/openmetrics-text") === true;

/**
 * What stands in the text format of Prometheus in that of OpenMetrics: a counter is named without `_total` where it is
 * described, nothing is empty, and the end is told.
 */
export function toOpenMetrics(text: string): string {
  const counters = new Set(
    [...text.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => `${name}_total`),
  );
  const lines = text.split("\n").filter((line) => line !== "" && line !== "# EOF");
  const described = lines.map((line) => {
    const [, word = "", name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    return counters.has(name) ? `# ${word} ${name.slice(0, -"_total".length)} ${rest}` : line;
  });
  return `${described.join("\n")}\n# EOF\n`;
}
