import type { DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Names of fields joined by dots, as the schema spells them. */
export type Path = string;

/** What an ID is one of. */
export type Reference = "person" | "organization" | "project" | "application";

/** A value of an object, and how it is shown where its type does not tell. */
export type Shown = {
  path: Path;
  /** What it is called; by default the word of the field. */
  word?: string;
  as?: Reference | Form;
  /** What is shown in its place. */
  text?: (object: JsonObject) => string;
};

/** How a value is written that names no object: a text of ours, or bytes that are a text. */
export type Form = "code" | "json" | "word" | "encoded";

/** Where a value of a request comes from: the object or row acted on, the page's object, what was answered before, or always so. */
export type From = { of: Path } | { page: Path } | { answer: Path } | { is: JsonValue };
export type Given = Readonly<Record<Path, From>>;

/** A value that is chosen from what a method answers. */
export type Choices = {
  method: DescMethodUnary;
  /** What is asked, by what was typed, else by the object and the page; nothing while something lacks. */
  request: (textOf: (path: Path) => string) => JsonObject | undefined;
  /** The list in the answer; its members themselves, or what stands in them. */
  rows: Path;
  value?: Path;
  label?: Path;
};

export type Field = {
  path: Path;
  word?: string;
  as?: Reference | "password" | "encoded";
  choices?: Choices;
  /** What stands there at first where nothing is to be changed. */
  initial?: From;
  isRequired?: true;
};

/** One of several ways, each with what it sends and asks for. */
export type Ways = {
  word: string;
  ways: readonly { word: string; given?: Given; fields?: readonly Field[] }[];
};

/** A call of the API that somebody makes: a button, and a dialog with the form or the question. */
export type Action = {
  /** What the button says. */
  word: string;
  method: DescMethodUnary;
  given?: Given;
  fields?: readonly (Field | Ways)[];
  /** The fields start with what the object has, and only what differs is sent. */
  isChange?: true;
  /** A list that names the fields which a change empties. */
  clears?: Path;
  /** Asked once more, with the name of what is lost. */
  isDangerous?: true;
  /** Whether it can be done with such an object. */
  when?: (object: JsonObject) => boolean;
  /** The method whose permission counts, where its own states none that does. */
  asFor?: DescMethodUnary;
  /** The permission to look for, where the schema does not state the one that counts. */
  permission?: string;
  /** What of the answer is shown once. */
  once?: readonly Shown[];
  /** What is done next with the answer. */
  next?: Action;
  /** Leads to the new object, or to the list that it stood in. */
  leadsTo?: string;
};

/** A search, by what is asked of it. */
export type Search = {
  method: DescMethodUnary;
  request: (object: JsonObject) => JsonObject;
  isDescending?: true;
};

/** The path of the page that a row leads to, and where its ID is. */
export type Opens = { to: string | ((object: JsonObject) => string); id: Path };

/** A list on the page of an object: found by a search, or part of the object. */
export type Rows = {
  word: string;
  tab: string;
  search?: Search;
  path?: Path;
  columns: readonly Shown[];
  opens?: Opens;
  actions?: readonly Action[];
  add?: readonly Action[];
  when?: (object: JsonObject) => boolean;
};

/** The list of all objects of a kind. */
export type Listed = {
  search: {
    method: DescMethodUnary;
    request: (typed: { q: string; org: string | undefined; state: string }) => JsonObject;
    isDescending?: true;
  };
  /** What is made here without an organization is the instance’s own. */
  isOfInstance?: true;
  /** Values of an enumeration to choose from. */
  states?: readonly string[];
  /** Nothing is filtered by what names begin with. */
  hasNoFilter?: true;
  columns: readonly Shown[];
  opens?: Opens;
  actions?: readonly Action[];
  add?: readonly Action[];
  /** What the buttons that add are for, where each says only which kind. */
  addWord?: string;
};

/** A kind of objects that have a page. */
export type Kind = {
  /** The list that it stands in. */
  back: { to: string; word: string };
  get: DescMethodUnary;
  /** Where the object stands in the answer. */
  object: Path;
  title: (object: JsonObject) => string;
  /** Where the object is, for what may be done to it there. */
  organization?: Path;
  project?: Path;
  facts: readonly Shown[];
  /** Lists of what belongs to it, within the organization that it is. */
  links?: readonly { to: string; word: string; method: DescMethodUnary }[];
  actions: readonly Action[];
  rows: readonly Rows[];
  history?: Search;
};

/** The value at a path. */
export function at(object: JsonValue | undefined, path: Path): JsonValue | undefined {
  let value = object;
  for (const name of path === "" ? [] : path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** The text at a path; empty where there is none. */
export function textAt(object: JsonValue | undefined, path: Path): string {
  const value = at(object, path);
  return typeof value === "string" ? value : "";
}

/** Names that begin so, whatever the letter case. */
export const begins = (q: string): JsonObject => ({
  name: q,
  method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE",
});

/** A list without the members that are not there. */
export const present = (members: readonly (JsonObject | false | undefined)[]): JsonObject[] =>
  members.filter((member): member is JsonObject => typeof member === "object");

/** Acts in an organization, or in the instance where none is chosen. */
export const contextOf = (org: string | undefined): JsonObject =>
  org === undefined ? {} : { ctx: { org_id: org } };

/** A group of settings: each has a value that counts, and the context that set it. */
export type SettingsGroup = {
  set: DescMethodUnary;
  resolve: DescMethodUnary;
};
