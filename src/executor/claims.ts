import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "../errors.ts";

/** What targets of a function add (X7). */
export type Additions = {
  /** In the order they came; no name twice, none of the service's own, none that was there before. */
  claims: { key: string; value: JsonValue }[];
  logClaims: string[];
  metadata: { key: string; value: Uint8Array }[];
};

export const noAdditions = (): Additions => ({ claims: [], logClaims: [], metadata: [] });

const own: ReadonlySet<string> = new Set([
  "iss",
  "sub",
  "aud",
  "exp",
  "iat",
  "nbf",
  "jti",
  "azp",
  "act",
  "nonce",
  "auth_time",
  "acr",
  "amr",
  "at_hash",
  "c_hash",
  "sid",
  // Whoever puts claims into an object by their names must not find this one.
  "__proto__",
]);

/** Claims that no target can set: those by which tokens are trusted, and the service's own. */
export const isReserved = (claim: string): boolean =>
  own.has(claim) || claim.startsWith("urn:idsvc:");

const members = ["append_claims", "append_log_claims", "set_user_metadata"] as const;
const mostEntries = 100;
const longestKey = 200;
// A token travels in a header.
const longestClaims = 16 * 1024;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Adds what a target answered to what others before it have added. A claim that is reserved or there already is left out,
 * and the log claims tell so. Metadata that is set twice has its last value.
 *
 * @throws INVALID_ARGUMENT FUNCTION_ANSWER_INVALID, and nothing of the answer counts
 */
export function addAnswer(
  before: Additions,
  answer: JsonValue,
  has: (claim: string) => boolean,
): Additions {
  if (!isObject(answer)) throw invalid("", "must be a JSON object");
  for (const key of Object.keys(answer)) {
    if (!members.some((member) => member === key)) throw invalid(key, "is no member of an answer");
  }
  const claims = [...before.claims];
  const logClaims = [...before.logClaims];
  for (const entry of listOf(answer, "append_claims")) {
    const { key, value } = entryOf(entry, "append_claims");
    if (value === undefined) throw invalid("append_claims", "must have a value in each entry");
    const isThere = has(key) || claims.some((claim) => claim.key === key);
    if (isReserved(key)) logClaims.push(`claim "${key}" is reserved and was left out`);
    else if (isThere) logClaims.push(`claim "${key}" is there already and was left out`);
    else claims.push({ key, value });
  }
  for (const text of listOf(answer, "append_log_claims")) {
    if (typeof text !== "string") throw invalid("append_log_claims", "must be a list of texts");
    logClaims.push(text);
  }
  if (JSON.stringify([claims, logClaims]).length > longestClaims) {
    throw invalid("append_claims", `must not be longer than ${longestClaims} characters together`);
  }
  const metadata = new Map(before.metadata.map((entry) => [entry.key, entry]));
  for (const entry of listOf(answer, "set_user_metadata")) {
    const { key, value } = entryOf(entry, "set_user_metadata");
    if (typeof value !== "string" || !base64.test(value)) {
      throw invalid("set_user_metadata", "must have a value in base64 in each entry");
    }
    metadata.set(key, { key, value: Buffer.from(value, "base64") });
  }
  return { claims, logClaims, metadata: [...metadata.values()] };
}

function listOf(answer: JsonObject, member: (typeof members)[number]): readonly JsonValue[] {
  const list = answer[member] ?? [];
  if (!Array.isArray(list)) throw invalid(member, "must be a list");
  if (list.length > mostEntries) throw invalid(member, `must have at most ${mostEntries} entries`);
  return list;
}

function entryOf(entry: JsonValue, member: string): { key: string; value: JsonValue | undefined } {
  const key = isObject(entry) ? entry["key"] : undefined;
  if (!isObject(entry) || typeof key !== "string" || key === "" || key.length > longestKey) {
    throw invalid(member, `must have a key of 1 to ${longestKey} characters in each entry`);
  }
  if (!key.isWellFormed()) throw invalid(member, "must have keys of whole characters");
  return { key, value: entry["value"] };
}

const isObject = (json: JsonValue): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

const invalid = (member: string, what: string) =>
  invalidArgument("FUNCTION_ANSWER_INVALID", `${member || "the answer"} ${what}`);
