import type { Query, SQL } from "drizzle-orm";
import { getTableName, queryParts } from "./drizzle.ts";

/** What a dialect of drizzle writes a query with. */
type Dialect = {
  escapeName(name: string): string;
  escapeParam(at: number): string;
  sqlToQuery(query: SQL): Query;
};
const { Column, isSQLWrapper, Name, Param, SQL: Parts, StringChunk, Table } = queryParts;
/** By this drizzle has the schema of a table that is in one. */
const schema = Symbol.for("drizzle:Schema");
type Written = { sql: string; params: unknown[] };

/**
 * Writes queries as the dialect does. What most queries are made of (text, names, tables, columns, values) is written here: drizzle
 * takes several times as long, a quarter of the time of a search over everything, as it asks of each part whether it is one of a dozen
 * kinds (decision 0399).
 */
export function queryWriter(dialect: Dialect): (query: SQL) => Query {
  const name = (given: string) => dialect.escapeName(given);

  /** @returns false for a part that is drizzle's to write */
  function write(part: unknown, written: Written): boolean {
    if (part === undefined) return true;
    if (part instanceof StringChunk) written.sql += part.value.join("");
    else if (part instanceof Parts) {
      // A private field of drizzle's.
      if (Reflect.get(part, "shouldInlineParams") === true) return false;
      return part.queryChunks.every((each) => write(each, written));
    } else if (part instanceof Param) {
      const { value, encoder } = part;
      if (isSQLWrapper(value)) return false;
      const sent: unknown = value === null ? null : encoder.mapToDriverValue(value);
      if (isSQLWrapper(sent)) return false;
      writeValue(sent, written);
    } else if (part instanceof Column) {
      if (!write(part.table, written)) return false;
      written.sql += `.${name(part.name)}`;
    } else if (part instanceof Table) {
      if (Reflect.get(part, schema) !== undefined) return false;
      written.sql += name(getTableName(part));
    } else if (part instanceof Name) written.sql += name(part.value);
    else if (Array.isArray(part)) return writeList(part, written);
    else if (typeof part === "object" || typeof part === "function") return false;
    else writeValue(part, written);
    return true;
  }

  function writeValue(value: unknown, written: Written): void {
    written.sql += dialect.escapeParam(written.params.length);
    written.params.push(value);
  }

  function writeList(parts: readonly unknown[], written: Written): boolean {
    written.sql += "(";
    const isWritten = parts.every((part, at) => {
      if (at > 0) written.sql += ", ";
      return write(part, written);
    });
    written.sql += ")";
    return isWritten;
  }

  return (query) => {
    const written: Written = { sql: "", params: [] };
    return write(query, written) ? written : dialect.sqlToQuery(query);
  };
}
