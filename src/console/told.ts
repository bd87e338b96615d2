/** What the server tells the page: words, and what permission shows that somebody has a use for a method. */
type Told = {
  texts: Readonly<Record<string, string>>;
  language: string;
  product: string;
  needs: Readonly<Record<string, string>>;
};

const element = document.getElementById("console");
// It is written by the server that serves this script.
const told = JSON.parse(element?.dataset["told"] ?? "{}") as Told;

export const { language, product, needs } = told;

/** The words of the reader's language. */
export const t = (key: string): string => told.texts[key] ?? key;

const dateFormat = new Intl.DateTimeFormat(language, {
  ...{ dateStyle: "medium", timeStyle: "short" },
});

/** A point in time, in the reader's zone. */
export const timeText = (date: Date): string => dateFormat.format(date);

/** The zone that times are shown in. */
export const zone: string = dateFormat.resolvedOptions().timeZone;
