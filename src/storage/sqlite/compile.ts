import {
  ClaimTaken,
  Conflict,
  type ClaimChange,
  type Expectation,
  type Unit,
} from "../database.ts";
import { claims, events } from "../kernel-tables.ts";
import { type Column, isStoredAsGiven } from "../drizzle.ts";
import { insertRow, PendingSequence, type RowChange } from "../row-change.ts";
import { type AnyTable, columnName } from "../table.ts";
import { checkStorable } from "../texts.ts";

/**
 * A statement, by its number, and what it is bound to: texts, numbers, bytes and null, so that it can be sent to a thread.
 *
 * @property pending which of the values are sequences that the unit draws, each followed by its place among them, both counted from
 * nought
 * @property expected what the statement must give; without it, it must change what it changes without meeting a row that is there
 */
export type Step = {
  statement: number;
  values: unknown[];
  pending?: number[];
  expected?: number;
};

/** A unit as statements, in the order of its expectations, claims, events and row changes. */
export type CompiledUnit = {
  instanceId: string;
  /** How many sequences it draws. */
  events: number;
  /** When its events were made, in milliseconds since the epoch. */
  createdAt: number;
  steps: Step[];
};

export type Compiler = {
  /** The text of each statement, at its number; it only ever grows. */
  readonly texts: readonly string[];
  /** @throws INVALID_ARGUMENT TEXT_NOT_STORABLE */
  unit(unit: Unit): CompiledUnit;
  /** One change of rows whose sequences are known; `rename` directs a rebuild to its own tables. */
  change(change: RowChange, rename?: (table: string) => string): Step;
};

type Mappable = Pick<Column, "mapToDriverValue">;

const quote = (name: string): string => `"${name}"`;
const equals = (key: string): string => `${quote(columnName(key))} = ?`;
const isAnyOf = (key: string): string =>
  `${quote(columnName(key))} IN (SELECT value FROM json_each(?))`;

// Parameters in subqueries: see `steady` in statements.ts.
const versionOfStream = `SELECT coalesce(max(aggregate_version), 0) FROM ${events.name}
  WHERE instance_id = (SELECT ?) AND aggregate_type = (SELECT ?) AND aggregate_id = (SELECT ?)`;
const freeClaims = `DELETE FROM ${claims.name} WHERE scope = ? AND holder_type = ? AND holder_id = ? AND kind = ?`;
const freeClaim = `${freeClaims} AND value = ?`;
const takeClaim = `INSERT INTO ${claims.name} (scope, kind, value, holder_type, holder_id) VALUES (?, ?, ?, ?, ?)`;

/** Makes statements of units; the text of each is put together once, for all that differ in nothing but values. */
export function createCompiler(): Compiler {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (text: string): number => {
    let number = numbers.get(text);
    if (number === undefined) numbers.set(text, (number = texts.push(text) - 1));
    return number;
  };

  const plans = new WeakMap<AnyTable, Plan[]>();
  /** @param check is given each value that is written, and may throw */
  function step(row: RowChange | Check, name: string, check: ValueCheck): Step {
    const { table, op } = row;
    const { values = nothing, where = nothing, keep = none }: Parts = row;
    let ofTable = plans.get(table);
    if (ofTable === undefined) plans.set(table, (ofTable = []));
    for (const plan of ofTable) {
      if (plan.op !== op || plan.name !== name || !isEqual(plan.keep, keep)) continue;
      const made: Step = { statement: plan.statement, values: [] };
      if (
        bindAll(made, plan.values, values, check) &&
        bindAll(made, plan.where, where, unchecked)
      ) {
        return made;
      }
    }
    const statement = numberOf(statementText(row, name));
    const parts = { values: bindingsOf(table, values), where: bindingsOf(table, where) };
    ofTable.push({ op, name, keep, ...parts, statement });
    return step(row, name, check);
  }

  const change = (row: RowChange, rename?: (table: string) => string): Step =>
    step(row, rename === undefined ? row.table.name : rename(row.table.name), unchecked);

  /** A change of rows with texts of callers, which are checked here. */
  const checkedChange = (row: RowChange): Step => step(row, row.table.name, checkStorable);

  function expectation(instanceId: string, expected: Expectation): Step {
    if (expected.kind === "stream") {
      return {
        statement: numberOf(versionOfStream),
        values: [instanceId, expected.aggregateType, expected.aggregateId],
        expected: Number(expected.version),
      };
    }
    const { table, where, count } = expected;
    return { ...step({ op: "count", table, where }, table.name, unchecked), expected: count };
  }

  function claim(each: ClaimChange, steps: Step[]): void {
    const { op, scope, kind, value, holderType, holderId } = each;
    if (op !== "add") {
      const values = [scope, holderType, holderId, kind];
      steps.push(
        op === "release" && value !== undefined
          ? { statement: numberOf(freeClaim), values: [...values, value] }
          : { statement: numberOf(freeClaims), values },
      );
    }
    if (op === "release") return;
    const values = [scope, kind, value, holderType, holderId];
    values.forEach(checkStorable);
    steps.push({ statement: numberOf(takeClaim), values });
  }

  return {
    texts,
    change,
    unit(unit) {
      const { instanceId } = unit;
      const steps: Step[] = [];
      for (const each of unit.expect) steps.push(expectation(instanceId, each));
      for (const each of unit.claims) claim(each, steps);
      unit.events.forEach((event, index) => {
        const row = { instanceId, sequence: new PendingSequence(index), ...event };
        steps.push(checkedChange(insertRow(events, row)));
      });
      for (const each of unit.changes) steps.push(checkedChange(each));
      const createdAt = unit.events[0]?.createdAt.getTime() ?? 0;
      return { instanceId, events: unit.events.length, createdAt, steps };
    },
  };
}

/** What a caller is told when a step of their unit meets what it must not. */
export function refusalAt(unit: Unit, step: number): Conflict | ClaimTaken {
  let at = step;
  const expected = unit.expect[at];
  if (expected !== undefined) {
    return new Conflict(
      expected.kind === "stream"
        ? `${expected.aggregateType} ${expected.aggregateId} has moved on`
        : `rows of ${expected.table.name} have changed`,
    );
  }
  at -= unit.expect.length;
  for (const { op, kind } of unit.claims) {
    at -= op === "hold" ? 2 : 1;
    if (at < 0) return new ClaimTaken(kind);
  }
  const event = unit.events[at];
  if (event !== undefined) {
    return new Conflict(`${event.aggregateType} ${event.aggregateId} has moved on`);
  }
  const changed = unit.changes[at - unit.events.length];
  return new Conflict(`a row of ${changed?.table.name} is there already`);
}

type Part = Record<string, unknown>;
type Check = { op: "count"; table: AnyTable; where: Part };
type Parts = { values?: Part; where?: Part; keep?: readonly string[] };
/** `column` where a value is stored in another form than it is given in. */
type Binding = { key: string; column: Mappable | undefined; isList: boolean };
type Plan = {
  op: (RowChange | Check)["op"];
  name: string;
  keep: readonly string[];
  values: readonly Binding[];
  where: readonly Binding[];
  statement: number;
};

const nothing: Part = {};
const none: readonly string[] = [];

function bindingsOf(table: AnyTable, part: Part): Binding[] {
  return Object.keys(part).map((key) => {
    const column: Mappable | undefined = Reflect.get(table.sqlite, key);
    if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
    const isList = Array.isArray(part[key]);
    return { key, column: isStoredAsGiven(column) ? undefined : column, isList };
  });
}

const isEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, at) => each === others[at]);

type ValueCheck = (value: unknown) => void;
const unchecked: ValueCheck = () => {};

/** Binds what a row has to a step; false, with the step half made, where the row has other columns than these. */
function bindAll(step: Step, bindings: readonly Binding[], part: Part, check: ValueCheck): boolean {
  let at = 0;
  for (const key in part) {
    const binding = bindings[at++];
    const value = part[key];
    if (binding?.key !== key || binding.isList !== Array.isArray(value)) return false;
    check(value);
    bind(step, binding, value);
  }
  return at === bindings.length;
}

function bind(step: Step, { column, isList }: Binding, value: unknown): void {
  if (value === null || value === undefined) step.values.push(null);
  else if (value instanceof PendingSequence) {
    (step.pending ??= []).push(step.values.length, value.index);
    step.values.push(null);
  } else if (isList) step.values.push(JSON.stringify(value));
  else step.values.push(column === undefined ? value : column.mapToDriverValue(value));
}

function statementText(row: RowChange | Check, table: string): string {
  const name = quote(table);
  if (row.op === "count") return `SELECT count(*) FROM ${name} WHERE ${allMeet(row.where)}`;
  if (row.op === "delete") return `DELETE FROM ${name} WHERE ${allEqual(row.where)}`;
  const keys = Object.keys(row.values);
  if (row.op === "update") {
    return `UPDATE ${name} SET ${keys.map(equals).join(", ")} WHERE ${allEqual(row.where)}`;
  }
  const columns = keys.map((key) => quote(columnName(key)));
  const insert = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  if (row.op === "insert") return insert;
  const target = row.table.key.map((key) => quote(columnName(key))).join(", ");
  const fixed = [...row.table.key, ...row.keep];
  const rest = columns.filter((_, at) => !fixed.includes(keys[at] ?? ""));
  const set = rest.map((column) => `${column} = excluded.${column}`).join(", ");
  return `${insert} ON CONFLICT (${target}) ${rest.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${set}`}`;
}

const allEqual = (where: Part): string => Object.keys(where).map(equals).join(" AND ");

const allMeet = (where: Part): string =>
  Object.keys(where)
    .map((key) => (Array.isArray(where[key]) ? isAnyOf(key) : equals(key)))
    .join(" AND ");
