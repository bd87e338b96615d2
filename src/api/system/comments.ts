import { readFileSync } from "node:fs";

// Generated code carries no comments that a program could read.
const file = new URL("../../../gen/comments.json", import.meta.url);

let comments: Readonly<Record<string, string>> | undefined;

/**
 * The comment above a declaration of our schema; empty where there is none, and for every file that is not ours.
 *
 * Paragraphs are on one line each, as Markdown wants them. The file is read at the first call.
 * @param name as in `gen/comments.json`: `idsvc.x.v1.Message`, `.Message.field`, `.Enum.VALUE`, `.Service.Method`
 */
export function commentOf(name: string): string {
  comments ??= JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>;
  return comments[name] ?? "";
}
