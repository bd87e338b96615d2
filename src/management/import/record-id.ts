import { create, ScalarType } from "@bufbuild/protobuf";
import type { Kind } from "./kind.ts";

// Ids and names are no longer, and what cannot be shown or stored names nothing.
const shown = /^\P{C}{1,200}$/u;

/**
 * The id of a record that could not be read as a message, as far as its texts tell it; a number where a text belongs counts as
 * its digits. Empty where they tell none.
 */
export function idOfUnread(kind: Kind, json: Uint8Array): string {
  const raw: object = Object(parsed(json));
  const record = create(kind.type);
  for (const { scalar, oneof, name, jsonName, localName } of kind.type.fields) {
    if (scalar !== ScalarType.STRING || oneof !== undefined) continue;
    const value: unknown = Reflect.get(raw, jsonName) ?? Reflect.get(raw, name);
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && shown.test(text)) Reflect.set(record, localName, text);
  }
  const id = kind.idOf(record);
  return id === "/" ? "" : id;
}

/** Undefined for what is no JSON. */
export function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(json).toString("utf8"));
  } catch {
    return undefined;
  }
}
