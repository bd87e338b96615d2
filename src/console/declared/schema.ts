import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { at, type Path, textAt } from "./declare.ts";

/** The list of an answer: its one field that repeats messages. */
export const listOf = (answer: DescMessage): DescField | undefined =>
  answer.fields.find(({ fieldKind, message }) => fieldKind === "list" && message !== undefined);

/** The objects of a list. */
export function objectsAt(object: JsonValue, path: Path): JsonObject[] {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ids: readonly Path[] = [
  "details.id",
  "id",
  "key",
  "key_id",
  "token_id",
  "sequence",
  "web_auth_n_id",
  "totp_id",
  "otp_sms_id",
  "otp_email_id",
];

/** What tells a row of a list from the others, and stays when what it says changes; of what has no ID, all that it says. */
export function keyOfRow(row: JsonObject): string {
  const id = ids.find((path) => textAt(row, path) !== "");
  if (id !== undefined) return `${id} ${textAt(row, id)}`;
  const { details: _, ...rest } = row;
  return JSON.stringify(rest);
}

/** Whether a name of a path is the index of a member of a list. */
export const isIndex = (name: string): boolean => /^\d+$/.test(name);

/** The field that a path leads to; of what is in free JSON, the field that holds it. */
export function fieldAt(message: DescMessage, path: Path): DescField | undefined {
  let inside: DescMessage | undefined = message;
  let found: DescField | undefined;
  for (const name of path.split(".")) {
    if (inside === undefined) return undefined;
    if (isIndex(name)) continue;
    found = inside.fields.find((field) => field.name === name);
    if (found?.message?.typeName === StructSchema.typeName) return found;
    inside = found?.message;
  }
  return found;
}

/** The last name of a path. */
export const nameIn = (path: Path): string => path.slice(path.lastIndexOf(".") + 1);
