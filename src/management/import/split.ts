import { type DomainError, invalidField } from "../../errors.ts";

/** One value of what is imported, as its bytes came; its own grammar is judged by who reads it. */
export type Piece =
  | { is: "record"; orgId: string; kind: string; json: Uint8Array }
  | { is: "option"; name: string; json: Uint8Array };

type Role = "lines" | "root" | "data" | "orgs" | "org" | "list";
type Frame = { role: Role; isArray: boolean; next: Next; key: string; orgId: string };
/** What the grammar lets come next in a container. */
type Next = "key" | "keyOrEnd" | "colon" | "value" | "valueOrEnd" | "commaOrEnd";

/** How far it is: what is open, how many bytes were seen, and the value that has begun with its size. */
type Scan = { stack: Frame[]; seen: number; text: Text | undefined; size: number };
type Text = { depth: number; inString: boolean; escaped: boolean; parts: Uint8Array[] };

const longestRecord = 1 << 20;
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const options = new Set(["timeout", "awaitResponse", "dryRun"]);
const elsewhere = /^dataOrgs(v1)?(Local|S3|Gcs)$|^dataOrgsv1$/;

// What is passed over is at least something.
const plain = /^(?:true|false|null|-?[0-9][0-9.eE+-]*|["[{][^]*)$/;

/** A name as it is spelled here: lower camel case. */
const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Takes apart what is imported while it comes, and holds no more of it than one record: a document
 * `{"dataOrgs": {"orgs": [..]}, ..}`, or the members of `orgs` one after the other, each perhaps on a line of its own.
 *
 * @throws INVALID_ARGUMENT IMPORT_MALFORMED, IMPORT_ORG_ID_MISSING, IMPORT_RECORD_TOO_LARGE, IMPORT_SOURCE_UNSUPPORTED
 */
export function splitter(): { feed(chunk: Uint8Array): Piece[]; end(): void } {
  const scan: Scan = {
    stack: [{ role: "lines", isArray: true, next: "valueOrEnd", key: "", orgId: "" }],
    seen: 0,
    text: undefined,
    size: 0,
  };
  return {
    feed: (chunk) => feed(scan, chunk),
    end() {
      if (scan.stack.length > 1 || scan.text !== undefined) {
        throw malformed(scan, 0, "more: it ends too soon");
      }
    },
  };
}

const refuse = (reason: string, what: string): DomainError => invalidField("data", reason, what);

const orgIdMissing = (key: string): DomainError =>
  refuse("IMPORT_ORG_ID_MISSING", `orgId must stand before ${key}: it says whose that is`);

const unsupportedSource = (key: string): DomainError =>
  refuse("IMPORT_SOURCE_UNSUPPORTED", `${key} is not read: send the data itself, as dataOrgs`);

const top = (scan: Scan): Frame => {
  const frame = scan.stack.at(-1);
  if (frame === undefined) throw new Error("the outermost container never closes");
  return frame;
};

function feed(scan: Scan, chunk: Uint8Array): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < chunk.length) {
    if (scan.text === undefined) {
      at = step(scan, chunk, at);
      continue;
    }
    const end = endOf(chunk, at, scan.text);
    scan.size += end.at - at;
    if (scan.size > longestRecord) {
      throw refuse("IMPORT_RECORD_TOO_LARGE", `a record is larger than ${longestRecord} bytes`);
    }
    scan.text.parts.push(chunk.slice(at, end.at));
    at = end.at;
    if (end.isDone) take(scan, pieces);
  }
  scan.seen += chunk.length;
  return pieces;
}

/** One byte between values. A value that is not looked into is gathered from its first byte on. */
function step(scan: Scan, chunk: Uint8Array, at: number): number {
  const byte = chunk[at] ?? 0;
  if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) return at + 1;
  const frame = top(scan);
  switch (frame.next) {
    case "colon":
      if (byte !== colon) throw malformed(scan, at, "a colon");
      frame.next = "value";
      return at + 1;
    case "commaOrEnd":
      if (byte === (frame.isArray ? closeArray : closeObject)) return leave(scan, at);
      if (byte !== comma) throw malformed(scan, at, "a comma or the end of a list or an object");
      frame.next = frame.isArray ? "value" : "key";
      return at + 1;
    case "keyOrEnd":
    case "key":
      if (byte === closeObject && frame.next === "keyOrEnd") return leave(scan, at);
      if (byte !== quote) throw malformed(scan, at, "the name of a member");
      scan.text = { depth: 0, inString: false, escaped: false, parts: [] };
      return at;
    default:
      if (frame.next === "valueOrEnd" && isListEnd(scan, frame, byte)) return leave(scan, at);
      return enter(scan, frame, byte, at);
  }
}

/** Whether a byte ends the list that is open; the outermost never ends. */
const isListEnd = ({ stack }: Scan, { isArray }: Frame, byte: number): boolean =>
  isArray && byte === closeArray && stack.length > 1;

function leave(scan: Scan, at: number): number {
  scan.stack.pop();
  const frame = top(scan);
  frame.next = frame.role === "lines" ? "valueOrEnd" : "commaOrEnd";
  return at + 1;
}

function enter(scan: Scan, frame: Frame, byte: number, at: number): number {
  const role = roleWithin(frame, byte);
  if (role === undefined) {
    if (frame.role === "lines" || frame.role === "orgs") throw malformed(scan, at, "an object");
    scan.text = { depth: 0, inString: false, escaped: false, parts: [] };
    return at;
  }
  const isArray = byte === openArray;
  if (role === "list" && frame.orgId === "") throw orgIdMissing(frame.key);
  const next = isArray ? "valueOrEnd" : "keyOrEnd";
  scan.stack.push({ role, isArray, next, key: frame.key, orgId: frame.orgId });
  return at + 1;
}

/** A text is whole: the name of a member, or its value. */
function take(scan: Scan, pieces: Piece[]): void {
  const json =
    scan.text?.parts.length === 1 ? scan.text.parts[0] : Buffer.concat(scan.text?.parts ?? []);
  scan.text = undefined;
  scan.size = 0;
  const frame = top(scan);
  if (json === undefined || json.length === 0) throw malformed(scan, 0, "a value");
  if (frame.next === "key" || frame.next === "keyOrEnd") {
    frame.key = camel(textOf(scan, json));
    if (elsewhere.test(frame.key)) throw unsupportedSource(frame.key);
    frame.next = "colon";
    return;
  }
  frame.next = "commaOrEnd";
  if (frame.role === "list") {
    pieces.push({ is: "record", orgId: frame.orgId, kind: frame.key, json });
  } else if (frame.key === "orgId") frame.orgId = textOf(scan, json);
  else if (options.has(frame.key) && frame.role === "root") {
    pieces.push({ is: "option", name: frame.key, json });
  } else if (json[0] === openObject && frame.role !== "data") {
    if (frame.orgId === "") throw orgIdMissing(frame.key);
    pieces.push({ is: "record", orgId: frame.orgId, kind: frame.key, json });
  } else if (!plain.test(Buffer.from(json).toString("latin1"))) throw malformed(scan, 0, "a value");
}

const malformed = (scan: Scan, at: number, wanted: string): DomainError =>
  refuse("IMPORT_MALFORMED", `byte ${scan.seen + at} is not what belongs there: ${wanted}`);

function textOf(scan: Scan, json: Uint8Array): string {
  try {
    const read: unknown = JSON.parse(Buffer.from(json).toString("utf8"));
    if (typeof read === "string") return read;
  } catch {
    // Said below: whatever is wrong with it, it is no text.
  }
  throw malformed(scan, 0, "a text");
}

/** What is looked into, and as what; all else is taken as it is. */
function roleWithin({ role, key }: Frame, byte: number): Role | undefined {
  if (byte === openObject) {
    if (role === "lines") return "root";
    if (role === "orgs") return "org";
    return role === "root" && key === "dataOrgs" ? "data" : undefined;
  }
  if (byte !== openArray) return undefined;
  if (role === "data" && key === "orgs") return "orgs";
  return role === "org" || role === "root" ? "list" : undefined;
}

/** Where a value ends that has begun; a number ends before what follows it. */
function endOf(chunk: Uint8Array, from: number, text: Text): { at: number; isDone: boolean } {
  let at = from;
  for (; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0;
    if (text.inString) {
      if (text.escaped) text.escaped = false;
      else if (byte === backslash) text.escaped = true;
      else if (byte === quote) {
        text.inString = false;
        if (text.depth === 0) return { at: at + 1, isDone: true };
      }
    } else if (byte === quote) text.inString = true;
    else if (byte === openObject || byte === openArray) text.depth += 1;
    else if (byte === closeObject || byte === closeArray) {
      if (text.depth === 0) return { at, isDone: true };
      text.depth -= 1;
      if (text.depth === 0) return { at: at + 1, isDone: true };
    } else if (text.depth === 0 && (byte === comma || byte <= 0x20)) return { at, isDone: true };
  }
  return { at, isDone: false };
}
