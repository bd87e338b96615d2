import type Sqlite from "better-sqlite3";

const maxStatements = 500;

/** Compiled statements by text, as many as a service has queries; the oldest make room. */
export function rememberStatements(
  connection: Sqlite.Database,
  explain: (error: unknown) => unknown,
): (text: string) => Sqlite.Statement {
  const statements = new Map<string, Sqlite.Statement>();
  return (text) => {
    let statement = statements.get(text);
    if (statement !== undefined) return statement;
    statement = explaining(prepared(connection, steady(text), explain), explain);
    const [oldest] = statements.size < maxStatements ? [] : statements.keys();
    if (oldest !== undefined) statements.delete(oldest);
    statements.set(text, statement);
    return statement;
  };
}

function prepared(
  connection: Sqlite.Database,
  text: string,
  explain: (error: unknown) => unknown,
): Sqlite.Statement {
  try {
    return connection.prepare(text);
  } catch (error) {
    throw explain(error);
  }
}

/** The statement itself, which says of its errors what they mean. */
export function explaining(statement: Sqlite.Statement, explain: (error: unknown) => unknown) {
  for (const name of ["all", "get", "run"] as const) {
    const ask = statement[name].bind(statement) as (...values: unknown[]) => never;
    statement[name] = (...values: unknown[]) => {
      try {
        return ask(...values);
      } catch (error) {
        throw explain(error);
      }
    };
  }
  return statement;
}

/**
 * SQLite compiles a statement with ORDER BY or LIMIT again each time that a parameter is bound, since the value could allow
 * a better plan; that takes longer than most reads. It does not look at the value of a subquery.
 */
export const steady = (text: string): string =>
  / (?:order by|limit) /.test(text)
    ? text.replaceAll(/((?:[<>=]|limit|offset) )\?/g, "$1(select ?)")
    : text;
