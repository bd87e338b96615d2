import { invalidArgument } from "../errors.ts";
import type { Unit } from "./database.ts";

/**
 * Refuses texts that not every database can hold, on all of them alike: with the character NUL, or with half of a
 * surrogate pair.
 * @throws INVALID_ARGUMENT TEXT_NOT_STORABLE
 */
export function checkTexts({ claims, events, changes }: Unit): void {
  for (const claim of claims) checkValues(claim);
  for (const event of events) checkValues(event);
  for (const change of changes) if ("values" in change) checkValues(change.values);
}

function checkValues(values: object): void {
  for (const key in values) checkStorable(Reflect.get(values, key));
}

/**
 * Refuses a text that could not be stored, or a value with one at any depth.
 * @throws INVALID_ARGUMENT TEXT_NOT_STORABLE
 */
export function checkStorable(value: unknown): void {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) throw unstorableText();
    return;
  }
  if (value === null || typeof value !== "object") return;
  if (value instanceof Uint8Array || value instanceof Date) return;
  if (Array.isArray(value)) return value.forEach(checkStorable);
  for (const key of Object.keys(value)) {
    checkStorable(key);
    checkStorable(Reflect.get(value, key));
  }
}

export const unstorableText = (cause?: unknown) =>
  invalidArgument(
    "TEXT_NOT_STORABLE",
    "a text holds the character NUL or half a surrogate pair: leave it out",
    { cause },
  );
