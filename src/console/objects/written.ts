import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { at, textAt } from "../declared/declare.ts";

/** A field that an event wrote. */
export type Written = {
  field: string;
  after: JsonValue;
  before: JsonValue | undefined;
  /** The event that wrote what was there before is older than those that are loaded. */
  isOlder: boolean;
};

const changing = ["changed", "set"];

/** Whether an event tells of a change to what was there before. */
export const isChange = (event: JsonObject): boolean => changing.includes(endOf(event));

/**
 * What an event wrote, and what an earlier event of the same object had written to the same field: one that changed the same part of it, or
 * added that part or the whole.
 *
 * @param older the events of the object before it, the newest first
 * @param isWhole there are no others before those
 */
export function writtenBy(
  event: JsonObject,
  older: readonly JsonObject[],
  isWhole: boolean,
): Written[] {
  const before = isChange(event) ? older.filter((each) => tellsOf(each, partOf(event))) : [];
  return Object.entries(payloadOf(event)).map(([field, after]) => {
    const last = before.map((each) => payloadOf(each)[field]).find((value) => value !== undefined);
    return { field, after, before: last, isOlder: last === undefined && !isWhole };
  });
}

function payloadOf(event: JsonObject): JsonObject {
  const payload = at(event, "payload");
  return typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload : {};
}

function tellsOf(event: JsonObject, part: string): boolean {
  const own = partOf(event);
  if (own === part) return isChange(event) || endOf(event) === "added";
  return part.startsWith(`${own}.`) && endOf(event) === "added";
}

/** What an event is of: its type without its last word. */
const partOf = (event: JsonObject): string => textAt(event, "type").replace(/\.[^.]*$/, "");
const endOf = (event: JsonObject): string => textAt(event, "type").replace(/^.*\./, "");
