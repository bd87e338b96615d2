import Sqlite from "better-sqlite3";

/**
 * Runs at each COMMIT of the connections to SQLite that this process opens from now on, before it: what it throws is what the
 * commit throws. Transactions that only read end with END. It stands between the store and the library, so it needs nothing of the machine.
 */
export function beforeCommits(hook: (connection: Sqlite.Database) => void): Disposable {
  const { prepare } = Sqlite.prototype;
  Reflect.set(Sqlite.prototype, "prepare", function (this: Sqlite.Database, source: string) {
    const statement = prepare.call(this, source);
    if (source !== "COMMIT") return statement;
    const run = statement.run.bind(statement);
    const hooked = () => {
      hook(this);
      return run([]);
    };
    return Object.assign(statement, { run: hooked });
  });
  return { [Symbol.dispose]: () => void Reflect.set(Sqlite.prototype, "prepare", prepare) };
}

/** What SQLite says of a commit whose flush failed. */
export const flushFailed = () => new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
