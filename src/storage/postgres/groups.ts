import { PendingSequence, type RowChange } from "../row-change.ts";
import type { Table } from "../table.ts";

type Group = {
  shape: string;
  op: RowChange["op"];
  rows: [RowChange, ...RowChange[]];
  about: Set<string>;
};
type Values = Record<string, unknown>;

/**
 * Row changes as groups that may each go in one statement, one group after the other: what they do to the tables is what
 * the changes do one by one.
 *
 * In a group all changes have one shape, and no two are about one row. New rows may come before others of their table
 * that have another key; everything else keeps its position among the changes of its table. Tables know nothing of each other.
 */
export function grouped(changes: readonly RowChange[]): [RowChange, ...RowChange[]][] {
  const groups: Group[] = [];
  const open = new Map<Table, Group[]>();
  for (const change of changes) {
    const { table, op } = change;
    const about = aboutOf(change);
    const makes = op === "insert" || op === "put";
    let joinable = open.get(table) ?? [];
    const isBarred = joinable.some(
      (group) => group.about.has(about) || (makes ? !isMaking(group) : isMaking(group)),
    );
    if (isBarred) joinable = [];
    const shape = shapeOf(change);
    let group = joinable.find((each) => each.shape === shape);
    if (group !== undefined) {
      group.rows.push(change);
      group.about.add(about);
    } else {
      group = { shape, op, rows: [change], about: new Set([about]) };
      groups.push(group);
      joinable = makes ? [...joinable, group] : [group];
    }
    open.set(table, joinable);
  }
  return groups.map(({ rows }) => rows);
}

const isMaking = ({ op }: Group): boolean => op === "insert" || op === "put";

/** Which rows a change is about: those of two changes of one shape differ where this differs. */
function aboutOf(change: RowChange): string {
  const { table } = change;
  if ("where" in change) return JSON.stringify(Object.values(change.where).map(plain));
  return JSON.stringify(table.key.map((key) => plain(change.values[key])));
}

const plain = (value: unknown): unknown =>
  typeof value === "bigint"
    ? String(value)
    : value instanceof PendingSequence
      ? [value.index]
      : value;

/** Two changes of a table with equal shapes differ in nothing but values. */
function shapeOf(change: RowChange): string {
  const values = "values" in change ? namesOf(change.values) : "";
  if (change.op === "put") return `put ${values} keep ${change.keep.join(" ")}`;
  if (change.op === "insert") return `insert ${values}`;
  const where = `${change.op} ${values} where ${namesOf(change.where)}`;
  // What moves rows out of its own condition, or into that of another, stands alone.
  const moves =
    change.op === "update" && Object.keys(change.where).some((key) => key in change.values);
  return moves ? `${where} ${aboutOf(change)}` : where;
}

const namesOf = (values: Values): string =>
  Object.entries(values)
    .map(([key, value]) => (value instanceof PendingSequence ? `${key}+` : key))
    .join(" ");
