import { hasRow } from "../../projection/rows.ts";
import { type Column, eq, gt, gte, lt, lte, type SQL, sql } from "../../storage/drizzle.ts";
import type { Organization } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import {
  type NameFilter,
  State,
  type StateFilter,
  type TextFilterMethod,
  TimestampFilterMethod,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { OrganizationReader } from "../../authz/ports.ts";
import { matchesText } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import type { List } from "./declared.ts";
import { toTextMethod } from "./list.ts";

type TextColumns = { exact: Column; folded: Column };

/** Compares a text column as a filter of the API asks. */
export const matches = (
  db: Database,
  columns: TextColumns,
  method: TextFilterMethod,
  wanted: string,
): SQL | undefined => matchesText(db, columns, toTextMethod(method), wanted);

export const hasName = (
  db: Database,
  columns: TextColumns,
  { name, method }: Pick<NameFilter, "name" | "method">,
): SQL | undefined => matches(db, columns, method, name);

/** Keeps the objects of whose list the value is one. */
export function isListed(
  db: Database,
  object: { instanceId: Column; id: Column },
  { table, as, of }: List,
  value: string,
): SQL {
  return hasRow(db, table, { instanceId: object.instanceId, [of]: object.id, [as]: value });
}

/** Keeps what one organization owns; a domain that leads to none keeps nothing. */
export async function isOfOrganization(
  column: Column,
  organizations: OrganizationReader,
  instanceId: string,
  { org }: Organization,
): Promise<SQL> {
  if (org.case === "orgId") return eq(column, org.value);
  const found = await organizations.byDomain(instanceId, (org.value ?? "").toLowerCase());
  return found === undefined ? sql`1 = 0` : eq(column, found.id);
}

/** How rows spell the states that resources can be in. */
export type RowState = "active" | "inactive";

export const hasState = (column: Column, { state }: StateFilter): SQL =>
  eq(column, fromState(state));

export const toState = (state: string): State =>
  state === "active" ? State.EFFECTIVE_STATE_ACTIVE : State.EFFECTIVE_STATE_INACTIVE;

export const fromState = (state: State): RowState =>
  state === State.EFFECTIVE_STATE_ACTIVE ? "active" : "inactive";

const timeMethods: Record<number, (column: Column, date: Date) => SQL> = {
  [TimestampFilterMethod.GREATER]: gt,
  [TimestampFilterMethod.GREATER_OR_EQUALS]: gte,
  [TimestampFilterMethod.LESS]: lt,
  [TimestampFilterMethod.LESS_OR_EQUALS]: lte,
};

/** Compares a point in time, to the millisecond. */
export const hasTime = (column: Column, date: Date, method: TimestampFilterMethod): SQL =>
  (timeMethods[method] ?? eq)(column, date);
