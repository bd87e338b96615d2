import type { JsonValue } from "@bufbuild/protobuf";
import { type DomainError, invalidArgument } from "../../errors.ts";

/** How deep lists and objects may nest where nothing else is said. */
const defaultDepth = 100;
/** How many values there may be: what becomes of one takes a microsecond or more, however short it is (J17). */
const mostValues = 200_000;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses JSON of which every reader makes the same: what parsers disagree on is refused, not guessed.
 *
 * Refused: a byte order mark, other encodings than UTF-8, half a surrogate pair, a key twice in one object, the key
 * `__proto__`, numbers too large for a double, comments, trailing commas, trailing text, nesting deeper than
 * `limits.depth` (100), more than 200,000 values. Integers that a double cannot hold exactly come out as strings, so that 64-bit fields keep
 * their value.
 *
 * Source: RFC 8259; I-JSON (RFC 7493) section 2.
 * @throws MALFORMED_JSON with the position in bytes, counted from 0, and what is wrong there
 */
export function parseStrictJson(bytes: Uint8Array, limits?: { depth: number }): JsonValue {
  const text = decodeUtf8(bytes);
  const inexact = scan(text, limits?.depth ?? defaultDepth);
  return JSON.parse(inexact.length === 0 ? text : quoteEach(inexact, text));
}

function decodeUtf8(bytes: Uint8Array): string {
  const text = decodeOrUndefined(bytes);
  if (text === undefined) throw malformed(firstBadByte(bytes), "the text is not UTF-8");
  if (text.startsWith("\uFEFF")) throw malformed(0, "the text starts with a byte order mark");
  return text;
}

function decodeOrUndefined(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // a fatal decoder has one way to fail
  }
}

function firstBadByte(bytes: Uint8Array): number {
  const lossy = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const replacement = Buffer.from("\uFFFD");
  let position = 0;
  // A replacement character can also be in the input; only one that is not there stands for a bad byte.
  for (const good of lossy.split("\uFFFD")) {
    position += Buffer.byteLength(good);
    if (!replacement.equals(bytes.subarray(position, position + replacement.length))) break;
    position += replacement.length;
  }
  return position;
}

function quoteEach(spans: readonly Span[], text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end } of spans) {
    pieces.push(text.slice(copied, start), '"', text.slice(start, end), '"');
    copied = end;
  }
  return pieces.join("") + text.slice(copied);
}

type Span = { start: number; end: number };

/** What a scan reads, and what it found: integers that a double does not hold. */
type Scan = { readonly text: string; readonly inexact: Span[]; values: number };

// JSON.parse builds the value, natively and fast; this only looks. A grammar of its own, rather than one that trusts
// JSON.parse, because V8 quotes the input in its messages and a body may hold secrets.
function scan(text: string, depth: number): readonly Span[] {
  const state: Scan = { text, inexact: [], values: 0 };
  const end = scanValue(state, skipBlanks(text, 0), depth);
  if (end < text.length) throw unexpected(text, end, "the end of the text");
  return state.inexact;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The index behind the value that starts here, and behind the blanks that follow it. */
function scanValue(state: Scan, at: number, depthLeft: number): number {
  const { text } = state;
  state.values += 1;
  if (state.values > mostValues) throw refuse(text, at, `more than ${mostValues} values`);
  switch (text.charCodeAt(at)) {
    case quote:
      return skipBlanks(text, endOfString(text, at));
    case openObject:
      return scanObject(state, at, depthLeft);
    case openList:
      return scanList(state, at, depthLeft);
    case 0x74:
      return endOfWord(text, at, "true");
    case 0x66:
      return endOfWord(text, at, "false");
    case 0x6e:
      return endOfWord(text, at, "null");
    default:
      return skipBlanks(text, endOfNumber(state, at));
  }
}

function scanObject(state: Scan, start: number, depthLeft: number): number {
  const { text } = state;
  if (depthLeft === 0) throw tooDeep(text, start);
  let at = skipBlanks(text, start + 1);
  if (text.charCodeAt(at) === closeObject) return skipBlanks(text, at + 1);
  const seen: string[] = [];
  let index: Set<string> | undefined;
  for (;;) {
    if (text.charCodeAt(at) !== quote) throw unexpected(text, at, "a key in double quotes");
    const end = endOfString(text, at);
    const key = keyOf(text, at, end);
    // A list is quicker for the few keys that objects have; a set keeps a hostile object linear.
    if (seen.length === 16) index ??= new Set(seen);
    if (index ? index.has(key) : seen.includes(key)) {
      throw refuse(text, at, "the key stands twice in its object");
    }
    if (index) index.add(key);
    else seen.push(key);
    at = skipBlanks(text, end);
    if (text.charCodeAt(at) !== colon) throw unexpected(text, at, '":"');
    at = scanValue(state, skipBlanks(text, at + 1), depthLeft - 1);
    const code = text.charCodeAt(at);
    if (code === closeObject) return skipBlanks(text, at + 1);
    if (code !== comma) throw unexpected(text, at, '"," or "}"');
    at = skipBlanks(text, at + 1);
  }
}

function keyOf(text: string, at: number, end: number): string {
  const raw = text.slice(at + 1, end - 1);
  const key = raw.includes("\\") ? String(JSON.parse(`"${raw}"`)) : raw;
  if (key === "__proto__") throw refuse(text, at, "the key __proto__ is not accepted");
  return key;
}

function scanList(state: Scan, start: number, depthLeft: number): number {
  const { text } = state;
  if (depthLeft === 0) throw tooDeep(text, start);
  let at = skipBlanks(text, start + 1);
  if (text.charCodeAt(at) === closeList) return skipBlanks(text, at + 1);
  for (;;) {
    at = scanValue(state, at, depthLeft - 1);
    const code = text.charCodeAt(at);
    if (code === closeList) return skipBlanks(text, at + 1);
    if (code !== comma) throw unexpected(text, at, '"," or "]"');
    at = skipBlanks(text, at + 1);
  }
}

/** The index behind the closing quote of the string that starts here. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at = endOfEscape(text, at);
    else if (code >= 0x20) at += 1;
    else if (at >= text.length) throw refuse(text, at, "the string does not end");
    else throw refuse(text, at, "a control character in a string must be escaped");
  }
}

const unicodeEscape =
  /\\u(?:([dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|([dD][c-fC-F])|[0-9a-fA-F]{4})/y;

function endOfEscape(text: string, at: number): number {
  const letter = text.charAt(at + 1);
  if (letter !== "u") {
    if (letter === "" || !'"\\/bfnrt'.includes(letter)) throw refuse(text, at, "unknown escape");
    return at + 2;
  }
  unicodeEscape.lastIndex = at;
  const match = unicodeEscape.exec(text);
  if (!match) throw refuse(text, at, "\\u needs four hexadecimal digits");
  const [all, high, low, lone] = match;
  if (lone !== undefined || (high !== undefined && low === undefined)) {
    throw refuse(text, at, "half of a surrogate pair");
  }
  return at + all.length;
}

const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
// A literal up to this length and without exponent is neither over the largest double nor over 2^53.
const alwaysExactLength = 15;

function endOfNumber({ text, inexact }: Scan, start: number): number {
  const afterDigits = endOfDigits(text, start);
  if (afterDigits > 0) return afterDigits;
  number.lastIndex = start;
  const match = number.exec(text);
  if (!match) throw unexpected(text, start, "a value");
  const [literal, fraction, exponent] = match;
  const end = start + literal.length;
  if (literal.length <= alwaysExactLength && exponent === undefined) return end;
  const value = Number(literal);
  if (!Number.isFinite(value)) throw refuse(text, start, "the number is too large");
  if (fraction === undefined && exponent === undefined && !Number.isSafeInteger(value)) {
    inexact.push({ start, end });
  }
  return end;
}

// Nearly every number is a short row of digits, and a pattern costs ten times a loop. 0 when it is another kind.
function endOfDigits(text: string, start: number): number {
  let at = start;
  let code = text.charCodeAt(at);
  while (code >= 0x30 && code <= 0x39) code = text.charCodeAt(++at);
  const length = at - start;
  const isPlain = length > 0 && length <= alwaysExactLength && text.charCodeAt(start) !== 0x30;
  return isPlain && code !== 0x2e && code !== 0x65 && code !== 0x45 ? at : 0;
}

function endOfWord(text: string, at: number, word: string): number {
  if (!text.startsWith(word, at)) throw unexpected(text, at, "a value");
  return skipBlanks(text, at + word.length);
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

function unexpected(text: string, at: number, expected: string): DomainError {
  if (at >= text.length) return refuse(text, at, `the text ends where ${expected} belongs`);
  if (text.charAt(at) === "/") return refuse(text, at, "comments are not JSON");
  const closes = text.charAt(at) === "]" || text.charAt(at) === "}";
  const follows = closes && text.slice(0, at).trimEnd().endsWith(",");
  return refuse(text, at, follows ? "trailing comma" : `expected ${expected}`);
}

function tooDeep(text: string, at: number): DomainError {
  return refuse(text, at, "lists and objects nest too deep");
}

function refuse(text: string, at: number, problem: string): DomainError {
  return malformed(Buffer.byteLength(text.slice(0, at)), problem);
}

function malformed(position: number, problem: string): DomainError {
  return invalidArgument("MALFORMED_JSON", `malformed JSON at byte ${position}: ${problem}`);
}
