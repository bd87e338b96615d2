/** The metrics of one process in the text format of Prometheus. */
export type Part = { worker: number; text: string };

type Family = {
  lines: string[];
  isGauge: boolean;
  sums: Map<string, number>;
  exemplars: Map<string, string>;
};

const sample = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$/;

/**
 * The metrics of processes that serve together as those of one service: counters and histograms are added up, and gauges,
 * whose sum would mean nothing, are told of each process with the label `worker`. Of exemplars of one bucket one is kept.
 */
export const mergeMetrics = (parts: readonly Part[]): string => textOf([...familiesOf(parts)]);

/** The counters and histograms of several texts, added up. */
export const countersOf = (texts: readonly string[]): string =>
  textOf(
    [...familiesOf(texts.map((text) => ({ worker: 0, text })))].filter((each) => !each.isGauge),
  );

function familiesOf(parts: readonly Part[]): Iterable<Family> {
  const families = new Map<string, Family>();
  for (const { worker, text } of parts) {
    let family: Family | undefined;
    for (const line of text.split("\n")) {
      const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
      if (word !== undefined) {
        family = familyOf(families, name);
        if (word === "TYPE") family.isGauge = rest === "gauge";
        const isKnown = family.lines.some((each) => each.startsWith(`# ${word} `));
        if (!isKnown) family.lines.push(line);
        continue;
      }
      const [told = "", exemplar] = line.split(" # ", 2);
      const [, metric = "", labels = "", value = ""] = sample.exec(told) ?? [];
      if (metric === "" || family === undefined) continue;
      const key = family.isGauge
        ? `${metric}{worker="${worker}"${labels === "" ? "" : `,${labels.slice(1, -1)}`}}`
        : `${metric}${labels}`;
      family.sums.set(key, (family.sums.get(key) ?? 0) + Number(value));
      if (exemplar !== undefined) family.exemplars.set(key, ` # ${exemplar}`);
    }
  }
  return families.values();
}

const textOf = (families: readonly Family[]): string =>
  families
    .map(({ lines, sums, exemplars }) => {
      const samples = [...sums].map(
        ([key, value]) => `${key} ${written(value)}${exemplars.get(key) ?? ""}`,
      );
      return `${[...lines, ...samples].join("\n")}\n`;
    })
    .join("\n");

function familyOf(families: Map<string, Family>, name: string): Family {
  let family = families.get(name);
  if (family === undefined) {
    families.set(
      name,
      (family = { lines: [], isGauge: false, sums: new Map(), exemplars: new Map() }),
    );
  }
  return family;
}

const written = (value: number): string =>
  value === Number.POSITIVE_INFINITY
    ? "+Inf"
    : value === Number.NEGATIVE_INFINITY
      ? "-Inf"
      : String(value);
