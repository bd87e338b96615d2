import { isOneOf } from "../../projection/rows.ts";
import type { Page } from "../../projection/search.ts";
import { eq } from "../../storage/drizzle.ts";
import { events as log } from "../../storage/kernel-tables.ts";
import { type EventsFound, type LogParts, logReader } from "./log-reader.ts";

/** Which history is asked for: that of one object. */
export type HistoryOf = {
  instanceId: string;
  /** The kinds of its streams, which all have its ID. */
  types: readonly string[];
  id: string;
};

/**
 * The history of one object, a page of it: for slices that show it beside the object, after they have checked that the
 * caller may read that. Audit log retention is kept.
 */
export function objectHistory(
  parts: LogParts,
): (of: HistoryOf, page: Page) => Promise<EventsFound> {
  const t = parts.db.table(log);
  const { page: readPage } = logReader(parts);
  return ({ instanceId, types, id }, page) => {
    const cursors = { secrets: parts.secrets, instanceId, list: JSON.stringify([types, id]) };
    const conditions = [isOneOf(t.aggregateType, types), eq(t.aggregateId, id)];
    return readPage(instanceId, conditions, page, cursors);
  };
}
