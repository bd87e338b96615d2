import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** A fault at a place that matters: the text that it replaces, and the test that goes red for it. */
export type Place = {
  file: string;
  find: string;
  replace: string;
  spec: string;
  /** The title of the test. */
  test: string;
  /** On which engine the test must go red: SQLite, where nothing else is said. `both` where the place is about data. */
  engine?: "postgres" | "both";
};

export const places: readonly Place[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "places.json"), "utf8"),
);
