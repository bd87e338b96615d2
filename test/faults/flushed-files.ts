import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import Sqlite from "better-sqlite3";
import { aroundCommits, flushingOf } from "../storage/sqlite-commits.ts";
import { walFrameBytes, walHeaderBytes } from "./wal.ts";

// Imported by a process of the service before anything else: after each flush it copies what the files of its store have come to, so
// that what a power cut leaves for certain is known. What is flushed is what SQLite was told to flush: it needs nothing of the
// machine.

const folder = process.env["FLUSHED_FILES"];
const database = "idsvc.db";
const files = [database, `${database}-wal`];
const sectorBytes = 512;

/** What a process needs so that its flushed files are kept in a folder, which holds its store as it is before the start. */
export const keepingFlushed = (to: string) => ({
  imports: [import.meta.filename],
  env: { FLUSHED_FILES: to },
});

const isKept = (path: string): boolean => !path.endsWith("-shm") && !lstatSync(path).isSocket();

/** A copy of a store that nobody has open, without the index of the log, which is memory, and without sockets. */
export function copyStore(from: string): string {
  const to = mkdtempSync(join(tmpdir(), "idsvc-fault-"));
  cpSync(from, to, { recursive: true, filter: isKept });
  return to;
}

/**
 * What a power cut may leave of a store whose process was killed: all that was flushed, and of each sector that was written
 * since the new content or the old, at random.
 *
 * @param lostPart how much of what was not flushed is lost: 1 is all of it
 */
export function afterPowerCut(dataDir: string, flushed: string, lostPart: number): string {
  const image = copyStore(dataDir);
  for (const file of files) {
    const [written, sure] = [dataDir, flushed].map((each) => contentOf(join(each, file)));
    if (written === undefined || sure === undefined) continue;
    const length = lostPart === 1 ? sure.length : written.length;
    const left = Buffer.alloc(length);
    for (let at = 0; at < length; at += sectorBytes) {
      const from = Math.random() < lostPart ? sure : written;
      // Behind the end of the file as it was, the old content is zeros.
      if (at < from.length) from.copy(left, at, at, at + sectorBytes);
    }
    writeFileSync(join(image, file), left);
  }
  return image;
}

const contentOf = (path: string): Buffer =>
  existsSync(path) ? readFileSync(path) : Buffer.alloc(0);

/** Brings copies of a database and its log up to what has been flushed, each time that it is called. */
function copies(from: string, to: string): () => void {
  const [log, logCopy] = [`${from}-wal`, `${to}-wal`];
  let databaseAt: bigint | undefined;
  let salts = "";
  let length = 0;

  function copyDatabase(): void {
    const { mtimeNs } = statSync(from, { bigint: true });
    if (mtimeNs === databaseAt) return;
    copyFileSync(from, to);
    databaseAt = mtimeNs;
  }

  // The log only grows until it begins anew, which its salts tell; behind its end there may be frames of an earlier round.
  function copyLog(): void {
    const source = openSync(log, "r");
    const target = openSync(logCopy, existsSync(logCopy) ? "r+" : "w+");
    const header = Buffer.alloc(walHeaderBytes);
    readSync(source, header, 0, walHeaderBytes, 0);
    const now = header.toString("hex", 16, 24);
    if (now !== salts) {
      [salts, length] = [now, walHeaderBytes];
      ftruncateSync(target);
      writeSync(target, header, 0, walHeaderBytes, 0);
    }
    const frame = Buffer.alloc(walFrameBytes(header));
    const isNext = () =>
      readSync(source, frame, 0, frame.length, length) === frame.length &&
      frame.toString("hex", 8, 16) === salts;
    for (; isNext(); length += frame.length) writeSync(target, frame, 0, frame.length, length);
    closeSync(source);
    closeSync(target);
  }

  return () => {
    copyDatabase();
    if (existsSync(log) && statSync(log).size >= walHeaderBytes) copyLog();
    else if (existsSync(logCopy)) writeFileSync(logCopy, "");
  };
}

function keepIn(to: string): void {
  const known = new Map<Sqlite.Database, () => void>();
  const keep = (connection: Sqlite.Database): void => {
    if (basename(connection.name) !== database || !flushingOf(connection).isFlushed) return;
    let copy = known.get(connection);
    if (copy === undefined)
      known.set(connection, (copy = copies(connection.name, join(to, database))));
    copy();
  };
  aroundCommits({ after: keep });
  // A checkpoint flushes the log, then the pages that it has written into the database.
  const { pragma } = Sqlite.prototype;
  Reflect.set(
    Sqlite.prototype,
    "pragma",
    function (this: Sqlite.Database, source: string, options?: Sqlite.PragmaOptions) {
      const result = pragma.call(this, source, options);
      if (source.startsWith("wal_checkpoint")) keep(this);
      return result;
    },
  );
}

if (folder !== undefined) keepIn(folder);
