import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { at, type Shown } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { keep } from "../keep-file.ts";
import { t } from "../page-data.ts";

/** A cell that no program takes for a formula, whatever a name begins with. */
const cellOf = (text: string): string => {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

/** Has the browser keep a table as a file (RFC 4180). */
export function download(name: string, rows: readonly (readonly string[])[]): void {
  const text = rows.map((row) => row.map(cellOf).join(",")).join("\r\n");
  keep(name, new Blob([`${text}\r\n`], { type: "text/csv" }));
}

/** What a column of a table of texts says of an object: names of values in the reader's language, times as timestamps. */
export function textOf(message: DescMessage | undefined, object: JsonObject, shown: Shown): string {
  if (shown.says !== undefined) return t(shown.says(object));
  if (shown.text !== undefined) return shown.text(object);
  const field = message && fieldAt(message, shown.path);
  const one = (value: JsonValue | undefined): string => {
    if (value === undefined || value === null) return "";
    if (Array.isArray(value)) return value.map(one).join(" ");
    if (typeof value === "boolean") return t(value ? "yes" : "no");
    if (typeof value === "object") return JSON.stringify(value);
    return field?.enum === undefined && shown.as !== "word" ? String(value) : t(String(value));
  };
  return one(at(object, shown.path));
}
