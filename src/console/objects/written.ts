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

export const hasWritten = (event: JsonObject): boolean => Object.keys(payloadOf(event)).length > 0;

/** Whether an event tells of a change to what was there before. */
export const isChange = (event: JsonObject): boolean => endOf(event) === "changed";

/**
 * What an event wrote, and what an earlier event of the same object had written to the same field: one that changed the same part of it, or
 * added that part or the whole. Of parts that there are several of, it is the same one by its IDs.
 *
 * @param older the events of the object before it, the newest first
 * @param isWhole there are no others before those
 */
export function writtenBy(
  event: JsonObject,
  older: readonly JsonObject[],
  isWhole: boolean,
): Written[] {
  const before = isChange(event) ? older.filter((each) => tellsOf(each, event)) : [];
  return Object.entries(payloadOf(event)).map(([field, after]) => {
    const last = before.map((each) => payloadOf(each)[field]).find((value) => value !== undefined);
    return { field, after, before: last, isOlder: last === undefined && !isWhole };
  });
}

function payloadOf(event: JsonObject): JsonObject {
  const payload = at(event, "payload");
  return typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload : {};
}

function tellsOf(earlier: JsonObject, event: JsonObject): boolean {
  const [own, part] = [partOf(earlier), partOf(event)];
  const isOfPart = own === part && (isChange(earlier) || endOf(earlier) === "added");
  const isOfWhole = part.startsWith(`${own}.`) && endOf(earlier) === "added";
  if (!isOfPart && !isOfWhole) return false;
  const before = payloadOf(earlier);
  return Object.entries(payloadOf(event)).every(
    ([field, value]) => !naming.test(field) || [undefined, value].includes(before[field]),
  );
}

const naming = /^(?:id|key)$|Id$/;

/** What an event is of: its type without its last word. */
const partOf = (event: JsonObject): string => textAt(event, "type").replace(/\.[^.]*$/, "");
const endOf = (event: JsonObject): string => textAt(event, "type").replace(/^.*\./, "");
