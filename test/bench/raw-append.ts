import Sqlite from "better-sqlite3";
import { createIdSource } from "../../src/crypto/ids.ts";

export type RawStore = {
  /** Runs the statements of one CreateTarget in the transaction that is open. */
  append(name: string): { id: string; sequence: number };
  /** One append in a transaction of its own, on disk when it returns. */
  each(name: string): { id: string; sequence: number };
  /** Many appends in one transaction and one flush. */
  group<T>(work: () => T): T;
};

const eventColumns = `instance_id, sequence, aggregate_type, aggregate_id, aggregate_version, type, revision, payload,
  owner_type, owner_id, editor_id, service, client_id, request_id, created_at`;
const targetColumns = `instance_id, id, sequence, creation_date, change_date, name, kind, url, timeout_ms, is_async,
  interrupt_on_error, payload_secrets, name_folded`;
const marks = (columns: string): string =>
  columns
    .split(",")
    .map(() => "?")
    .join(", ");

export function openRaw(file: string): Sqlite.Database {
  const db = new Sqlite(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("cache_size = -65536");
  db.pragma("temp_store = MEMORY");
  return db;
}

/** The same statements as the service, by hand: stream, claim, sequence, event, projection row. */
export function rawStore(db: Sqlite.Database, instance: string): RawStore {
  const newId = createIdSource();
  const stream = db
    .prepare(
      `SELECT * FROM events WHERE instance_id = ? AND aggregate_type = ? AND aggregate_id = ?
       ORDER BY aggregate_version`,
    )
    .raw();
  const release = db.prepare(
    "DELETE FROM claims WHERE scope = ? AND holder_type = ? AND holder_id = ? AND kind = ?",
  );
  const claim = db.prepare(
    "INSERT INTO claims (scope, kind, value, holder_type, holder_id) VALUES (?, ?, ?, ?, ?)",
  );
  const draw = db
    .prepare(
      `INSERT INTO sequences (instance_id, last, changed_at) VALUES (?, 1, ?)
       ON CONFLICT (instance_id) DO UPDATE SET last = last + 1,
         changed_at = max(changed_at, excluded.changed_at)
       RETURNING last`,
    )
    .pluck();
  const event = db.prepare(`INSERT INTO events (${eventColumns}) VALUES (${marks(eventColumns)})`);
  const row = db.prepare(`INSERT INTO targets (${targetColumns}) VALUES (${marks(targetColumns)})`);

  function append(name: string) {
    const id = newId();
    const now = Date.now();
    const folded = name.toLowerCase();
    stream.all(instance, "target", id);
    release.run(instance, "target", id, "target.name");
    claim.run(instance, "target.name", folded, "target", id);
    const sequence = Number(draw.get(instance, now));
    const [kind, url] = ["rest_webhook", "https://hooks.example.com/audit"];
    const payload = JSON.stringify({
      kind,
      url,
      isAsync: false,
      interruptOnError: true,
      name,
      timeoutMs: 10_000,
    });
    event.run(
      instance,
      sequence,
      "target",
      id,
      1,
      "target.added",
      1,
      payload,
      "instance",
      instance,
      "bench",
      "bench",
      "",
      "bench",
      now,
    );
    row.run(instance, id, sequence, now, now, name, kind, url, 10_000, 0, 1, 0, folded);
    return { id, sequence };
  }

  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const group = <T>(work: () => T): T => {
    begin.run();
    const result = work();
    commit.run();
    return result;
  };
  return { append, group, each: (name) => group(() => append(name)) };
}
