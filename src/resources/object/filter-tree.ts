import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Awaitable } from "../../awaitable.ts";
import { invalidField } from "../../errors.ts";
import { and, or, type SQL, sql } from "../../storage/drizzle.ts";

/** The most filters of a search, those inside others included, and how many stand in each other (A8). */
const maxFilters = 100;
const maxNesting = 3;
const everything = sql`1 = 1`;

/** A filter that holds others, or one that compares. */
export type FilterNode<F> =
  | { kind: "or" | "and" | "not"; filters: readonly { filter: F; field: string }[] }
  | { kind: "leaf"; condition: SQL | undefined };

/**
 * Makes conditions of filters that hold other filters. What a filter says of a value that is not there is no: then the
 * filter that turns it round keeps the object.
 *
 * @param read says what a filter is; the fields of those inside are relative to it
 * @throws INVALID_ARGUMENT FILTER_TOO_DEEP, FILTERS_TOO_MANY naming the field
 */
export function filterTree<F>(
  filters: readonly F[],
  read: (filter: F) => Awaitable<FilterNode<F>>,
): Promise<(SQL | undefined)[]> {
  let count = 0;
  const all = async (inside: readonly { filter: F; field: string }[], level: number) => {
    const conditions: (SQL | undefined)[] = [];
    for (const { filter, field } of inside)
      conditions.push(await toCondition(filter, field, level));
    return conditions;
  };
  return all(
    filters.map((filter, index) => ({ filter, field: `filters[${index}]` })),
    1,
  );

  async function toCondition(filter: F, field: string, level: number): Promise<SQL | undefined> {
    count += 1;
    if (count > maxFilters) {
      throw invalidField(
        field,
        "FILTERS_TOO_MANY",
        `is one filter too many: a search has at most ${maxFilters}, those inside others included`,
      );
    }
    if (level > maxNesting) {
      throw invalidField(
        field,
        "FILTER_TOO_DEEP",
        `is at level ${level}: filters stand in each other at most ${maxNesting} deep`,
      );
    }
    const node = await read(filter);
    if (node.kind === "leaf") return node.condition;
    const inside = node.filters.map((one) => ({ ...one, field: `${field}.${one.field}` }));
    return combine(node.kind, await all(inside, level + 1));
  }
}

type Holding = (value: unknown) => FilterNode<object>;

/**
 * The filters that hold others, by their names, from the schema: `or`, `and` and `not`, whose value is a filter, or a message
 * with a field of filters and nothing else.
 */
export function holdingFilters(filter: DescMessage): ReadonlyMap<string, Holding> {
  const holding = new Map<string, Holding>();
  for (const { localName, name, message } of filter.oneofs[0]?.fields ?? []) {
    const kind = (["or", "and", "not"] as const).find((each) =>
      [each, `${each}Filter`].includes(localName),
    );
    if (kind === undefined || message === undefined) continue;
    const inside = message === filter ? undefined : message.fields[0];
    holding.set(localName, (value) => ({ kind, filters: insideOf(value as object, name, inside) }));
  }
  return holding;
}

function insideOf(value: object, name: string, inside: DescField | undefined) {
  if (inside === undefined) return [{ filter: value, field: name }];
  const field = `${name}.${inside.name}`;
  const filters = Reflect.get(value, inside.localName) as object | object[];
  return Array.isArray(filters)
    ? filters.map((filter: object, index) => ({ filter, field: `${field}[${index}]` }))
    : [{ filter: filters, field }];
}

// A comparison without condition keeps everything (a text that contains the empty text).
function combine(kind: "or" | "and" | "not", inside: (SQL | undefined)[]): SQL | undefined {
  const conditions = inside.map((one) => one ?? everything);
  if (kind === "or") return or(...conditions);
  const all = and(...conditions) ?? everything;
  return kind === "and" ? all : sql`not coalesce(${all}, ${sql`1 = 0`})`;
}
