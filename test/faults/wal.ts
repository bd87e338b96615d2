/** The frames of a write-ahead log. Source: SQLite, "Database File Format", section 4. */
export type Wal = {
  headerBytes: number;
  frameBytes: number;
  /** The frames up to the last commit. */
  committed: number;
  /** The newest committed content of each page, by its number. */
  pages: Map<number, Buffer>;
};

export const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/** The length of a frame of the log with this header: a page and what tells of it. */
export const walFrameBytes = (header: Buffer): number => frameHeaderBytes + header.readUInt32BE(8);

export function framesOf(bytes: Buffer): Wal {
  const salts = bytes.subarray(16, 24);
  const frameBytes = walFrameBytes(bytes);
  const pages = new Map<number, Buffer>();
  let pending = new Map<number, Buffer>();
  let committed = 0;
  for (let frame = 0; walHeaderBytes + (frame + 1) * frameBytes <= bytes.length; frame++) {
    const at = walHeaderBytes + frame * frameBytes;
    // What is left of an earlier round of the log has other salts.
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break;
    pending.set(bytes.readUInt32BE(at), bytes.subarray(at + frameHeaderBytes, at + frameBytes));
    const pagesAfterCommit = bytes.readUInt32BE(at + 4);
    if (pagesAfterCommit === 0) continue;
    for (const [page, content] of pending) pages.set(page, content);
    pending = new Map();
    committed = frame + 1;
  }
  return { headerBytes: walHeaderBytes, frameBytes, committed, pages };
}
