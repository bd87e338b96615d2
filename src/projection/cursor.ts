import { hash } from "node:crypto";
import { invalidField } from "../errors.ts";
import type { SecretStore } from "../eventstore/secret-store.ts";
import {
  and,
  type Column,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from "../storage/drizzle.ts";

/** Where an entry stands in a list: by the value that it is sorted by, and its id where others have the same. */
export type Position = { value: SortValue; id: string };
type SortValue = string | number | bigint | boolean | Date | null;

/** A place in a list to go on behind. Of a text that is too long for a cursor it holds the beginning, and a digest of all. */
export type Place =
  | { kind: "behind"; position: Position }
  | { kind: "within"; beginning: string; digest: string };

/** The list that a cursor belongs to. */
export type CursorOf = {
  secrets: Pick<SecretStore, "sealText" | "openText">;
  instanceId: string;
  /** What makes it this list and no other, apart from what the caller may read. */
  list: string;
};

// Sealed, and as text, it has at most 512 characters (ListQuery.after).
const mostBytes = 300;
const beginningPoints = 60;

/** A cursor behind an entry, as opaque text of at most 512 characters. */
export function sealCursor(of: CursorOf, position: Position): Promise<string> {
  const whole = JSON.stringify([toJson(position.value), position.id]);
  const { value } = position;
  const text =
    typeof value === "string" && Buffer.byteLength(whole) > mostBytes
      ? JSON.stringify({
          beginning: [...value].slice(0, beginningPoints).join(""),
          digest: digestOf(position),
        })
      : whole;
  return of.secrets.sealText(of.instanceId, purposeOf(of), Buffer.from(text));
}

/** @throws INVALID_ARGUMENT CURSOR_INVALID for whatever was not given for this list */
export async function openCursor(
  of: CursorOf,
  after: string,
  field = "query.after",
): Promise<Place> {
  const clear = await of.secrets.openText(of.instanceId, purposeOf(of), after);
  if (clear === undefined) throw cursorInvalid(field);
  const read: unknown = JSON.parse(Buffer.from(clear).toString());
  // What is sealed was written by `sealCursor`.
  if (!Array.isArray(read))
    return { kind: "within", ...(read as { beginning: string; digest: string }) };
  const [value, id] = read as [Json, string];
  return { kind: "behind", position: { value: fromJson(value), id } };
}

const cursorInvalid = (field: string) =>
  invalidField(
    field,
    "CURSOR_INVALID",
    "is no `next` of this search: filters, order, direction and context must be those that it was given for",
  );

const sha256 = (text: string): string => hash("sha256", text, "base64url");
const purposeOf = ({ list }: CursorOf): string => `cursor ${sha256(list)}`;

/** Tells positions apart whose texts are too long to be held. */
export const digestOf = ({ value, id }: Position): string =>
  sha256(JSON.stringify([toJson(value), id]));

type Json = string | number | boolean | null | { date: number } | { int64: string };

function toJson(value: SortValue): Json {
  if (value instanceof Date) return { date: value.getTime() };
  return typeof value === "bigint" ? { int64: String(value) } : value;
}

function fromJson(value: Json): SortValue {
  if (typeof value !== "object" || value === null) return value;
  return "date" in value ? new Date(value.date) : BigInt(value.int64);
}

/** Keeps what follows a position, in the order of the column and then the id; no value is the smallest. */
export function behind(
  order: Column,
  id: Column,
  isAscending: boolean,
  position: Position,
): SQL | undefined {
  const { value } = position;
  const [beyond, from] = isAscending ? [gt, gte] : [lt, lte];
  const sameValueBehind = beyond(id, position.id);
  if (order === id) return sameValueBehind;
  if (value === null) {
    const none = and(isNull(order), sameValueBehind);
    return isAscending ? or(none, isNotNull(order)) : none;
  }
  if (order.notNull) {
    const sign = sql.raw(isAscending ? ">" : "<");
    const [valueSent, idSent] = [sql.param(value, order), sql.param(position.id, id)];
    return sql`(${order}, ${id}) ${sign} (${valueSent}, ${idSent})`;
  }
  const others = and(
    from(order, value),
    or(beyond(order, value), and(eq(order, value), sameValueBehind)),
  );
  return isAscending ? others : or(others, isNull(order));
}
