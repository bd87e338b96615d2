import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { newProcessName } from "../../src/storage/process-name.ts";
import { serveWriter } from "../../src/storage/sqlite/shared-writer.ts";
import { type Place, unit } from "./place.ts";

export type Connection = Sqlite.Database & Disposable;

/** A connection beside the service. Rows must be read with `raw()` or `pluck()`: the process forbids code generation. */
export const connect = (path: string): Connection => {
  const connection = new Sqlite(path);
  return Object.assign(connection, { [Symbol.dispose]: () => void connection.close() });
};

export type FilePlace = Place & { path: string };

/** The same; the first that is open is served (a thread of its own writes), the others are commands beside it. */
export async function servedPlace(): Promise<FilePlace> {
  const place = await filePlace();
  const { path } = place;
  let isServed = false;
  return {
    ...place,
    async open(schema) {
      if (isServed) return place.open(schema);
      isServed = true;
      const db = openSqlite({ path, schema, serves: true, quickFlushMs: 0 });
      const close = db[Symbol.asyncDispose].bind(db);
      const migrate = db.migrate.bind(db);
      return Object.assign(db, {
        async migrate() {
          const stale = await migrate();
          // The thread is started with the first commit: what lives for a moment must not wait for that.
          await db.commit(unit({}));
          return stale;
        },
        async [Symbol.asyncDispose]() {
          await close();
          isServed = false;
        },
      });
    },
  };
}

/** The same; whoever opens it serves it together with the others, and one more process (here a part of this one) writes for all. */
export async function sharedPlace(): Promise<FilePlace> {
  const place = await filePlace();
  const { path } = place;
  const socket = `${path}-writer`;
  const running = new Set<string>();
  const broken: unknown[] = [];
  const writer = await serveWriter({ path, socket }, (error) => broken.push(error));
  return {
    ...place,
    async open(schema) {
      const processName = newProcessName();
      running.add(processName);
      const endedOf = async (names: readonly string[]) =>
        names.filter((name) => !running.has(name));
      const db = openSqlite({
        path,
        schema,
        serves: true,
        shared: { socket, processName, endedOf },
      });
      const close = db[Symbol.asyncDispose].bind(db);
      return Object.assign(db, {
        async [Symbol.asyncDispose]() {
          await close();
          running.delete(processName);
        },
      });
    },
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
      assert.deepEqual(broken, []);
    },
  };
}

/** A folder of its own for one SQLite file. */
export async function filePlace(): Promise<FilePlace> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-store-"));
  const path = join(folder, "idsvc.db");
  return {
    path,
    replaceEvent: `INSERT OR REPLACE INTO events SELECT instance_id, sequence, aggregate_type, aggregate_id,
      aggregate_version, 'note.removed', revision, payload, owner_type, owner_id, editor_id, service, client_id,
      request_id, created_at, origin_id FROM events`,
    open: async (schema) => openSqlite({ path, schema }),
    async execute(statement) {
      using connection = connect(path);
      connection.exec(statement);
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
