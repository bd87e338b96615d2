import type { AnyEvents, NewEvent, Recorded } from "../../eventstore/event.ts";
import { on, type Projection, projection } from "../../projection/projection.ts";
import { deleteRows, insertRow, type RowChange } from "../../storage/row-change.ts";
import { objectRows, objectTable } from "../../projection/objects.ts";
import { type Table, text } from "../../storage/table.ts";
import type { AnyDeclared, Fact, Verbs } from "./declared.ts";

export const usualVerbs: Verbs = { added: "added", changed: "changed", removed: "removed" };

/** The table of a declared resource: the columns that every one has around those of its fields. */
export function tableOf(declared: AnyDeclared): Table {
  const { fields, owner, states, beside } = declared;
  const own = Object.entries(fields).flatMap(([key, { as = key, column, folded }]) =>
    folded ? [[as, column] as const, [`${as}Folded`, text()] as const] : [[as, column] as const],
  );
  const columns = {
    ...(owner === "org" ? { organizationId: text() } : {}),
    ...Object.fromEntries(own),
    ...beside?.columns,
    ...(states ? { state: text() } : {}),
  };
  const indexes = declared.indexes as { columns: (keyof typeof columns)[] }[];
  return objectTable(declared.table, columns, { indexes, countedBy: "instanceId" });
}

/** What the events of a declared resource do to its rows. */
export function projectionOf(
  declared: AnyDeclared,
  events: AnyEvents<NewEvent>,
  stored: Table,
): Projection {
  const { events: prefix, verbs = usualVerbs, owner, states, facts = {}, beside, also } = declared;
  const fill = filler(declared);
  const lists = listsOf(declared);
  const { add, change, remove: removeRow } = objectRows(stored);
  const remove = (event: Recorded) => [...removeRow(event), ...lists.empty(event)];
  const reducerOf =
    ({ sets, row, rows, ends, untouched }: Fact["effect"]) =>
    (event: Recorded): RowChange[] => {
      const others = rows?.(event as never) ?? [];
      if (ends === true) return [...remove(event), ...others];
      if (untouched === true) return others;
      const given = { ...(event.payload as object), ...sets?.(event.payload as never) };
      return [
        ...change(event, fill({ ...row?.(event.payload as never) }, given, false)),
        ...lists.put(event),
        ...others,
      ];
    };
  const own = Object.entries(facts).map(
    ([key, { effect }]) => [`${prefix}.${key}`, reducerOf(effect)] as const,
  );
  return projection(
    declared.table,
    [stored, ...lists.tables, ...(declared.tables ?? [])],
    on(events, {
      [`${prefix}.${verbs.added}`]: (event: Recorded) => {
        const values: Record<string, unknown> = {};
        if (owner === "org") values["organizationId"] = event.owner.id;
        if (states) values["state"] = "active";
        if (beside !== undefined) Object.assign(values, beside.first(event as never));
        fill(values, event.payload as object, true);
        return [...add(event, values), ...lists.add(event)];
      },
      ...(verbs.changed && { [`${prefix}.${verbs.changed}`]: reducerOf({}) }),
      ...(states && {
        [`${prefix}.deactivated`]: (event: Recorded) => change(event, { state: "inactive" }),
        [`${prefix}.reactivated`]: (event: Recorded) => change(event, { state: "active" }),
      }),
      ...(verbs.removed && { [`${prefix}.${verbs.removed}`]: remove }),
      ...Object.fromEntries(own),
    }),
    ...(also?.(stored as never) ?? []),
  );
}

/** Adds to a row what is given; what is not is what it is without, or stays. */
function filler({ fields }: AnyDeclared) {
  const columns = Object.entries(fields).map(([key, { as = key, absent, unsaid, fixed }]) => ({
    key,
    as,
    fixed,
    absent: absent ?? unsaid,
  }));
  return (row: Record<string, unknown>, given: object, isNew: boolean) => {
    for (const { key, as, absent, fixed } of columns) {
      if (fixed === true && !isNew) continue;
      let value: unknown = Reflect.get(given, key);
      if (value === undefined && isNew) value = absent;
      if (value === undefined) continue;
      row[as] = value;
    }
    return row;
  };
}

/** The rows of the values of lists: each event that names a list names all of it. */
function listsOf({ lists = {} }: AnyDeclared) {
  const all = Object.entries(lists).flatMap(([key, list]) => {
    if (list === undefined) return [];
    const { table: rows, as, of } = list;
    const beside = Object.keys(rows.columns).filter(
      (name) => ![as, of, "instanceId"].includes(name),
    );
    return [{ key, rows, as, of, beside }];
  });
  type List = (typeof all)[number];
  const rowOf = ({ instanceId, aggregateId }: Recorded, { of }: List) => ({
    instanceId,
    [of]: aggregateId,
  });
  const valuesOf = (event: Recorded, { key }: List) =>
    Reflect.get(event.payload as object, key) as readonly unknown[] | undefined;
  const insert = (event: Recorded, list: List) =>
    (valuesOf(event, list) ?? []).map((value) => {
      const beside = list.beside.map((name) => [name, Reflect.get(event.payload as object, name)]);
      const row = { ...rowOf(event, list), ...Object.fromEntries(beside), [list.as]: value };
      return insertRow(list.rows, row);
    });
  const empty = (event: Recorded, list: List) => deleteRows(list.rows, rowOf(event, list));
  return {
    tables: all.map(({ rows }) => rows),
    add: (event: Recorded) => all.flatMap((list) => insert(event, list)),
    put: (event: Recorded) =>
      all
        .filter((list) => valuesOf(event, list) !== undefined)
        .flatMap((list) => [empty(event, list), ...insert(event, list)]),
    empty: (event: Recorded) => all.map((list) => empty(event, list)),
  };
}
