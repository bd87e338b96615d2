/** What the server tells the page: words, and what permission shows that somebody has a use for a method. */
type PageData = {
  texts: Readonly<Record<string, string>>;
  language: string;
  product: string;
  needs: Readonly<Record<string, string>>;
  /** The browser has no session of the console; where it is false it may have one. */
  isSignedOut: boolean;
};

const element = document.getElementById("console");
// It is written by the server that serves this script.
const data = JSON.parse(element?.dataset["page"] ?? "{}") as PageData;

export const { language, product, needs, isSignedOut } = data;

/** The words of the reader's language. */
export const t = (key: string): string => data.texts[key] ?? key;

const languageNames = new Intl.DisplayNames(language, { type: "language" });

/** What a language is called, by its code. */
export const languageText = (code: string): string => languageNames.of(code) ?? code;

const dateFormat = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** A point in time, in the reader's zone. */
export const timeText = (date: Date): string => dateFormat.format(date);

const dayFormat = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });

/** A day, such as 2026-11-26, as the reader writes it. */
export const dayText = (day: string): string => dayFormat.format(new Date(day));

/** The zone that times are shown in. */
export const zone: string = dateFormat.resolvedOptions().timeZone;

const numbers = new Intl.NumberFormat(language);

/** A whole number as JSON has it, as the reader writes numbers. */
export const numberText = (digits: string): string => numbers.format(BigInt(digits));

/** The units that spans of time are told in, from the longest. */
export const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** The seconds of a span of time as JSON has it, such as `3600s`. */
export const secondsOf = (text: string): number => Number(text.replace(/s$/, ""));

/** A span of time, in the longest unit of which it has whole ones. */
export function durationText(text: string): string {
  const seconds = secondsOf(text);
  const found = units.find(([, each]) => seconds !== 0 && seconds % each === 0);
  const [unit, length] = found ?? ["second", 1];
  const style = { style: "unit", unit, unitDisplay: "long" } as const;
  return new Intl.NumberFormat(language, style).format(seconds / length);
}

/** What a unit of time is called. */
export function unitText(unit: (typeof units)[number][0]): string {
  const style = { style: "unit", unit, unitDisplay: "long" } as const;
  const parts = new Intl.NumberFormat(language, style).formatToParts(2);
  return parts.find(({ type }) => type === "unit")?.value ?? unit;
}
