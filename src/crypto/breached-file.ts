import { close, fstat, open, read, stat, type Stats } from "node:fs";
import { promisify } from "node:util";

const digestLength = 40;
const lineStart = /^([0-9A-F]{40})(?:[:\r]|$)/;
const windowBytes = 65_536;
// Between two known lines that are no further apart, one read finds every digest.
const closeBytes = 1_048_576;
const mostKnown = 4_096;
// Of a file whose digests are not spread evenly the middle is looked at from then on.
const mostGuesses = 8;
const mostReads = 64;
// How long a file that was put in the place of another may wait until it counts.
const sameForMs = 1_000;

const opened = promisify(open);
const statOf = promisify(stat);
const fstatOf = promisify(fstat);
const readFile = promisify(read);
type ReadAt = (
  file: number,
  ...into: [buffer: Buffer, offset: number, length: number, position: number]
) => Promise<{ bytesRead: number }>;

/** A line whose place in the file is known, with where its digest stands among all. */
type Known = { digest: string; share: number; at: number };

type Opened = {
  path: string;
  file: number;
  readAt: ReadAt;
  /** Tells it from another file at the same path. */
  identity: string;
  /** In order; the first is the beginning of the file, the last its end. */
  known: Known[];
  lookups: number;
  isReplaced: boolean;
};

/**
 * Looks digests up in a file of lines `<SHA-1 in capital hex>` or `<SHA-1>:<count>`, sorted. Digests are spread evenly, so that
 * one tells about where its line is, and each read tells where another line is. The first lookups take two or three reads, and
 * soon one is enough, however long the file is. The file stays open until another one is in its place.
 *
 * @param readAt reads a part of an open file
 * @throws Error for a file that cannot be read, or is not made of such lines
 */
export function breachedFile(
  path: string,
  readAt: ReadAt = readFile,
): (digest: string) => Promise<boolean> {
  let latest: Promise<Opened> | undefined;
  let comparedAt = 0;

  /** Another file may be at the path since. */
  async function compare(): Promise<void> {
    if (latest === undefined || Date.now() - comparedAt < sameForMs) return;
    comparedAt = Date.now();
    const file = await latest;
    if (identityOf(await statOf(path)) === file.identity || file.isReplaced) return;
    latest = undefined;
    file.isReplaced = true;
    closeUnused(file);
  }

  async function begin(): Promise<Opened> {
    await compare();
    if (latest === undefined) {
      const opening = openFile(path, readAt);
      latest = opening;
      comparedAt = Date.now();
      opening.catch(() => {
        latest = undefined;
      });
    }
    const file = await latest;
    // It may have been closed meanwhile.
    if (file.isReplaced) return begin();
    file.lookups += 1;
    return file;
  }

  return async (digest) => {
    const file = await begin();
    try {
      return await isListed(file, digest);
    } finally {
      file.lookups -= 1;
      closeUnused(file);
    }
  };
}

async function openFile(path: string, readAt: ReadAt): Promise<Opened> {
  const file = await opened(path, "r");
  const stats = await fstatOf(file).catch((error: unknown) => {
    close(file);
    throw error;
  });
  const begin = { digest: "", share: 0, at: 0 };
  const end = { digest: "G", share: 1, at: stats.size };
  const identity = identityOf(stats);
  return { path, file, readAt, identity, known: [begin, end], lookups: 0, isReplaced: false };
}

function closeUnused({ file, lookups, isReplaced }: Opened): void {
  if (isReplaced && lookups === 0) close(file);
}

const identityOf = ({ dev, ino, size, mtimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs].join(" ");

async function isListed(file: Opened, digest: string): Promise<boolean> {
  // The line, where there is one, begins at `low` or behind it, and before `high`.
  let [low, high] = around(file.known, digest);
  for (let step = 0; step < mostReads && low.at < high.at; step += 1) {
    const room = high.at - low.at;
    const isGuessed = step < mostGuesses && high.share > low.share;
    const share = isGuessed ? (shareOf(digest) - low.share) / (high.share - low.share) : 1 / 2;
    const guess = Math.floor(low.at + share * room - windowBytes / 2);
    const from = Math.max(low.at, Math.min(guess, high.at - windowBytes));
    const { text, least, greatest } = await linesFrom(file, from, low, high);
    if (room > closeBytes) learn(file.known, least);
    if (room > windowBytes && digest < least.digest) high = least;
    else if (room > windowBytes && digest > greatest.digest) low = greatest;
    else return text.includes(digest);
  }
  if (low.at < high.at) throw notOfLines(file);
  return false;
}

/** The whole lines of a part of the file that lies between two known ones. */
async function linesFrom(file: Opened, from: number, low: Known, high: Known) {
  const buffer = Buffer.alloc(Math.min(windowBytes, high.at - from));
  const { bytesRead } = await file.readAt(file.file, buffer, 0, buffer.length, from);
  const all = buffer.toString("latin1", 0, bytesRead);
  const begin = from === low.at ? 0 : all.indexOf("\n") + 1;
  const end = from + bytesRead === high.at ? bytesRead : all.lastIndexOf("\n") + 1;
  const text = all.slice(begin, end).trimEnd();
  const known = (at: number): Known => {
    const [, digest] = lineStart.exec(text.slice(at, at + digestLength + 1).trimEnd()) ?? [];
    if (digest === undefined) throw notOfLines(file);
    return { digest, share: shareOf(digest), at: from + begin + at };
  };
  return { text, least: known(0), greatest: known(text.lastIndexOf("\n") + 1) };
}

const notOfLines = ({ path }: Opened) =>
  new Error(`${path} is not made of sorted lines that begin with a SHA-1 in capital letters`);

/** Where a digest stands among all, from 0 to 1. */
const shareOf = (digest: string): number => Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48;

/** The last known line that is no greater than a digest, and the one that follows it. */
function around(known: readonly Known[], digest: string): [low: Known, high: Known] {
  const next = indexBehind(known, digest);
  const [low, high] = [known[next - 1], known[next]];
  if (low === undefined || high === undefined) throw new Error(`${digest} is no SHA-1`);
  return [low, high];
}

function learn(known: Known[], line: Known): void {
  const next = indexBehind(known, line.digest);
  if (known.length < mostKnown && known[next - 1]?.digest !== line.digest) {
    known.splice(next, 0, line);
  }
}

/** Where the first line is that is greater than a digest. */
function indexBehind(known: readonly Known[], digest: string): number {
  let [from, to] = [0, known.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((known[middle]?.digest ?? "") > digest) to = middle;
    else from = middle + 1;
  }
  return from;
}
