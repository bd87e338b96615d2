import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "../errors.ts";

/** A field that is a secret (`debug_redact`), or a message that may hold one further down. */
type Bearer = { field: DescField; isSecret: boolean };

const isSecretField = (field: DescField): boolean => field.proto.options?.debugRedact === true;

const known = new WeakMap<DescMessage, readonly Bearer[]>();

/** The fields of a message that bear secrets; none for most. */
function bearersOf(desc: DescMessage): readonly Bearer[] {
  let bearers = known.get(desc);
  if (bearers === undefined) {
    bearers = desc.fields
      .map((field) => ({ field, isSecret: isSecretField(field) }))
      .filter(({ field, isSecret }) => isSecret || reachesSecret(field.message, new Set()));
    known.set(desc, bearers);
  }
  return bearers;
}

function reachesSecret(desc: DescMessage | undefined, seen: Set<DescMessage>): boolean {
  if (desc === undefined || seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some((field) => isSecretField(field) || reachesSecret(field.message, seen));
}

/** Whether a message of the type may hold secrets, however deep. */
export const mayHoldSecrets = (desc: DescMessage): boolean => bearersOf(desc).length > 0;

/** A message as JSON without its secrets: the one way in which messages leave the service for anybody but the caller. */
export function withoutSecrets(desc: DescMessage, json: JsonValue): JsonValue {
  const bearers = bearersOf(desc);
  if (bearers.length === 0 || !isObject(json)) return json;
  const shown = { ...json };
  for (const { field, isSecret } of bearers) {
    for (const name of spellingsOf(field)) {
      const value = shown[name];
      if (value === undefined) continue;
      if (isSecret) delete shown[name];
      else shown[name] = mapMessages(field, value, withoutSecrets);
    }
  }
  return shown;
}

/**
 * What somebody made of a message that they saw without its secrets, with the secrets put back: one that is absent stays as
 * it was, one that is there replaces it. In lists the position tells whose secret it is.
 *
 * @throws INVALID_ARGUMENT SECRETS_OUT_OF_PLACE when a list of which elements hold secrets has got another length
 */
export function withSecretsOf(
  desc: DescMessage,
  original: JsonValue,
  answer: JsonValue,
): JsonValue {
  const bearers = bearersOf(desc);
  if (bearers.length === 0 || !isObject(answer) || !isObject(original)) return answer;
  const whole = { ...answer };
  for (const { field, isSecret } of bearers) {
    const before = valueOf(original, field);
    if (before === undefined || before === null) continue;
    const name = spellingsOf(field).find((each) => isThere(whole[each]));
    if (name === undefined) {
      if (isSecret && !isReplaced(field, whole)) putBack(whole, field, before);
      else if (field.fieldKind === "list") requireNoSecrets(field, before);
    } else if (!isSecret) {
      whole[name] = restored(field, before, whole[name] ?? null);
    }
  }
  return whole;
}

function putBack(whole: JsonObject, field: DescField, before: JsonValue): void {
  for (const name of spellingsOf(field)) delete whole[name];
  whole[field.name] = before;
}

/** Whether another member of the oneof stands where the secret stood. */
const isReplaced = (field: DescField, answer: JsonObject): boolean =>
  (field.oneof?.fields ?? []).some((other) => other !== field && isThere(valueOf(answer, other)));

function restored(field: DescField, before: JsonValue, answer: JsonValue): JsonValue {
  const { message } = field;
  if (message === undefined) return answer;
  if (field.fieldKind === "list") {
    if (!Array.isArray(before) || !Array.isArray(answer)) return answer;
    if (answer.length !== before.length) {
      requireNoSecrets(field, before);
      return answer;
    }
    return answer.map((each, nth) => withSecretsOf(message, before[nth] ?? null, each));
  }
  if (field.fieldKind === "map") {
    if (!isObject(before) || !isObject(answer)) return answer;
    return mapEntries(answer, (each, key) =>
      Object.hasOwn(before, key) ? withSecretsOf(message, before[key] ?? null, each) : each,
    );
  }
  return withSecretsOf(message, before, answer);
}

function requireNoSecrets(field: DescField, before: JsonValue): void {
  const { message } = field;
  if (message === undefined || !Array.isArray(before)) return;
  if (!before.some((each) => holdsSecrets(message, each))) return;
  throw invalidArgument(
    "SECRETS_OUT_OF_PLACE",
    `${field.name}: must have as many elements as before, as they hold secrets that are not shown`,
  );
}

function holdsSecrets(desc: DescMessage, json: JsonValue): boolean {
  if (!isObject(json)) return false;
  return bearersOf(desc).some(({ field, isSecret }) => {
    const value = valueOf(json, field);
    if (value === undefined || value === null) return false;
    // What has no presence is written though it is empty.
    if (isSecret) return value !== "" && !(Array.isArray(value) && value.length === 0);
    const { message } = field;
    if (message === undefined) return false;
    const inside = field.fieldKind === "message" ? [value] : Object.values(value);
    return inside.some((each) => holdsSecrets(message, each ?? null));
  });
}

/** The value of a field with each message in it as `make` makes it. */
function mapMessages(
  field: DescField,
  value: JsonValue,
  make: (desc: DescMessage, json: JsonValue) => JsonValue,
): JsonValue {
  const { message } = field;
  if (message === undefined) return value;
  if (field.fieldKind === "list") {
    return Array.isArray(value) ? value.map((each) => make(message, each)) : value;
  }
  if (field.fieldKind === "map") {
    return isObject(value) ? mapEntries(value, (each) => make(message, each)) : value;
  }
  return make(message, value);
}

// Keys come from outside: entries, not assignments, so that `__proto__` is a key like others.
const mapEntries = (
  object: JsonObject,
  make: (value: JsonValue, key: string) => JsonValue,
): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value ?? null, key)]));

const spellingsOf = ({ name, jsonName }: DescField): string[] =>
  name === jsonName ? [name] : [name, jsonName];

const valueOf = (json: JsonObject, field: DescField): JsonValue | undefined =>
  spellingsOf(field)
    .map((name) => json[name])
    .find((value) => value !== undefined);

// In JSON of messages null is an absent field.
const isThere = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

const isObject = (json: JsonValue): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);
