import { type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import {
  type Action,
  at,
  contextOf,
  type Field,
  type From,
  type Given,
  type Path,
  type Ways,
} from "../declared/declare.ts";
import { fieldAt, isIndex } from "../declared/schema.ts";

/** What an action is done to. */
export type Subject = {
  object: JsonObject;
  page: JsonObject;
  answer: JsonObject;
  /** The organization that is worked in. */
  org: string | undefined;
};

/** What was typed, by path of the request, and which of several ways was chosen, by their word. */
export type Typed = {
  values: Readonly<Record<string, JsonValue>>;
  ways: Readonly<Record<string, number>>;
};

export const isWays = (each: Field | Ways): each is Ways => "ways" in each;

export const wayOf = (ways: Ways, typed: Typed) => ways.ways[typed.ways[ways.word] ?? 0];

/** The fields that are shown, by what was chosen. */
export const fieldsOf = (action: Action, typed: Typed): Field[] =>
  (action.fields ?? []).flatMap((each) =>
    isWays(each) ? [...(wayOf(each, typed)?.fields ?? [])] : [each],
  );

export function valueFrom(from: From, subject: Subject): JsonValue | undefined {
  if ("is" in from) return from.is;
  if ("of" in from) return at(subject.object, from.of);
  return "page" in from ? at(subject.page, from.page) : at(subject.answer, from.answer);
}

/** Where the object has what a field begins with; nowhere, where it begins with something else. */
export function shownFrom(action: Action, field: Field): Path | undefined {
  if (action.isChange === true) return field.path;
  return field.initial !== undefined && "of" in field.initial ? field.initial.of : undefined;
}

/** What a field has before anything is typed. */
export function initialOf(action: Action, field: Field, subject: Subject): JsonValue | undefined {
  if (action.isChange === true) return at(subject.object, field.path);
  return field.initial && valueFrom(field.initial, subject);
}

const isEmpty = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);

/** Whether two values are the same to somebody who reads them. */
export const isSame = (one: JsonValue | undefined, other: JsonValue | undefined): boolean =>
  isEmpty(one) ? isEmpty(other) : JSON.stringify(one) === JSON.stringify(other);

/** The request that an action makes of what was typed; of a change only what differs. */
export function requestOf(action: Action, subject: Subject, typed: Typed): JsonObject {
  const request: JsonObject = {};
  give(request, action.given, subject);
  for (const each of action.fields ?? []) {
    if (isWays(each)) give(request, wayOf(each, typed)?.given, subject);
  }
  for (const field of fieldsOf(action, typed)) {
    const initial = initialOf(action, field, subject);
    const value = field.path in typed.values ? typed.values[field.path] : initial;
    if (action.isChange === true) putChange(request, action, field.path, initial, value);
    else if (!isEmpty(value) || isEmptied(action, field, initial, typed)) {
      put(request, field.path, value ?? null);
    }
  }
  const hasContext = action.method.input.fields.some(
    ({ name, message }) => name === "ctx" && message?.name === "RequestContext",
  );
  if (hasContext && request["ctx"] === undefined) Object.assign(request, contextOf(subject.org));
  const expected = expectedSequence(action, subject);
  return expected === undefined ? request : { ...request, expected_sequence: expected };
}

/** A list, or a setting that is a text, that had something and was emptied: left out of the request it would stay as it is. */
function isEmptied(
  { method }: Action,
  { path }: Field,
  initial: JsonValue | undefined,
  { values }: Typed,
): boolean {
  if (!(path in values) || isEmpty(initial)) return false;
  const isText = fieldAt(method.input, path)?.scalar === ScalarType.STRING;
  return Array.isArray(values[path]) || (isText && path.endsWith(".set"));
}

/** What an object gives to a request without anything typed. */
export function givenOf(
  given: Given | undefined,
  subject: Pick<Subject, "object" | "page">,
): JsonObject {
  const request: JsonObject = {};
  give(request, given, { ...subject, answer: {}, org: undefined });
  return request;
}

/** The state of the object that a change is made to, where the method can be told. */
function expectedSequence(action: Action, { object, page }: Subject): JsonValue | undefined {
  if (!action.method.input.fields.some(({ name }) => name === "expected_sequence"))
    return undefined;
  return at(object, "details.sequence") ?? at(page, "details.sequence");
}

function give(request: JsonObject, given: Given | undefined, subject: Subject): void {
  for (const [path, from] of Object.entries(given ?? {})) {
    const value = valueFrom(from, subject);
    // What is typed into it is not typed into the declaration, or the object, that it comes from.
    if (!isEmpty(value)) put(request, path, structuredClone(value ?? null));
  }
}

function putChange(
  request: JsonObject,
  { clears }: Action,
  path: string,
  initial: JsonValue | undefined,
  value: JsonValue | undefined,
): void {
  if (isSame(initial, value)) return;
  if (!isEmpty(value)) return put(request, path, value ?? null);
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (clears !== undefined && Array.isArray(initial)) {
    const before = at(request, clears);
    return put(request, clears, [...(Array.isArray(before) ? before : []), name]);
  }
  // Of free JSON a member goes with null (RFC 7396).
  put(request, path, path.includes(".data.") ? null : "");
}

/** Puts a value where a path leads to, through members of lists too. */
export function put(request: JsonObject, path: string, value: JsonValue): void {
  const names = path.split(".");
  let inside: JsonObject | JsonValue[] = request;
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const before: JsonValue | undefined = Reflect.get(inside, name);
    const isHere = typeof before === "object" && before !== null;
    const next = isLast ? value : isHere ? before : isIndex(names[index + 1] ?? "") ? [] : {};
    Reflect.set(inside, name, next);
    if (!isLast) inside = next as JsonObject | JsonValue[];
  }
}
