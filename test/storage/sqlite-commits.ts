import Sqlite from "better-sqlite3";

type Hook = (connection: Sqlite.Database) => void;

/**
 * Runs at each COMMIT of the connections to SQLite that this process opens from now on: before it, where what is thrown is what
 * the commit throws, and after one that succeeded. Transactions that only read end with END. It stands between the store and the library, so it needs nothing of the machine.
 */
export function aroundCommits({ before, after }: { before?: Hook; after?: Hook }): Disposable {
  const { prepare } = Sqlite.prototype;
  Reflect.set(Sqlite.prototype, "prepare", function (this: Sqlite.Database, source: string) {
    const statement = prepare.call(this, source);
    if (source !== "COMMIT") return statement;
    const run = statement.run.bind(statement);
    const hooked = () => {
      before?.(this);
      const result = run([]);
      after?.(this);
      return result;
    };
    return Object.assign(statement, { run: hooked });
  });
  return { [Symbol.dispose]: () => void Reflect.set(Sqlite.prototype, "prepare", prepare) };
}

export const beforeCommits = (hook: Hook): Disposable => aroundCommits({ before: hook });

/** What SQLite says of a commit whose flush failed. */
export const flushFailed = () => new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");

// sqlite.org/pragma.html: with a write-ahead log, FULL flushes it at each commit, and EXTRA more than that.
const full = 2;

const questions = new WeakMap<Sqlite.Database, Sqlite.Statement[]>();

/** How SQLite was told to keep what this connection commits, and whether that is flushed before the commit returns. */
export function flushingOf(connection: Sqlite.Database) {
  let asked = questions.get(connection);
  if (asked === undefined) {
    asked = ["synchronous", "journal_mode"].map((name) =>
      connection.prepare(`PRAGMA ${name}`).pluck(),
    );
    questions.set(connection, asked);
  }
  const [synchronous, journal] = asked.map((each) => each.get());
  return { synchronous, journal, isFlushed: journal === "wal" && Number(synchronous) >= full };
}
