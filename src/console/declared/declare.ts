import type { DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { MemberContext } from "./member-permission.ts";

/** Names of fields joined by dots, as the schema spells them. */
export type Path = string;

/** What is found by what names it, where an ID is asked for. */
export type Picked = "person" | "organization" | "project" | "application";

/** What an ID is one of. */
export type Reference = Picked | "provider";

/** How the objects that IDs may name are found and called, and the path of their pages, where it follows from the kind alone. */
export type Named = {
  method: DescMethodUnary;
  name: (object: JsonObject) => string;
  /** What tells apart those of the same name; by default their ID. */
  more?: Path;
  to?: string;
  /** They are those of a context and of the ones above it, and cannot be asked for by ID. */
  isInherited?: true;
};

/** Words by what they stand for. */
export type Words = Readonly<Record<string, string>>;

/** A value of an object, and how it is shown where its type does not tell. */
export type Shown = {
  path: Path;
  /** What it is called; by default the word of the field. */
  word?: string;
  as?: Reference | Form;
  /** What the IDs here name, where no page of another kind shows such. */
  named?: Named;
  /** What values are called that are texts for programs. */
  values?: Words;
  /** The word for a span of time that is zero. */
  zero?: string;
  /** The word for there being none. */
  empty?: string;
  /** What is shown in its place. */
  text?: (object: JsonObject) => string;
  /** The word that is shown in its place. */
  says?: (object: JsonObject) => string;
};

/** A text that an answer holds once, to be copied. */
export type Once = Shown & {
  /** It can be read later too: it stands beside one that cannot, and never alone. */
  isKept?: true;
  /** It is offered as a file of this name, too. */
  fileName?: string;
};

/** What an answer tells of how it came out: a value, or a list of objects with what is shown of each. */
export type Outcome = Shown & { columns?: readonly Shown[] };

/** How a value is written that names no object: a text of ours, why something was refused, bytes that are a text, a language,
 * the request that an event comes of. */
export type Form = "code" | "json" | "word" | "reason" | "encoded" | "language" | "request";

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
  /** Beside those: lines of which one that is a failed request stands for its redirect address; a text of several lines. */
  as?: Picked | "password" | "encoded" | "redirects" | "text" | "language";
  choices?: Choices;
  /** The values that it may have, of which the schema knows only that they are texts. */
  values?: Words;
  /** Where the values of a list are messages: the field of each that is chosen or typed. */
  each?: string;
  /** What stands there at first where nothing is to be changed. */
  initial?: From;
  isRequired?: true;
  /** The word for what helps to fill it in; `{origin}` in it is the address of the service. */
  hint?: string;
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
  /** What follows from it, where the name does not say enough. */
  about?: string;
  /** What it concerns, as the service counts it: how many are named in the place of `{n}`, where there are any. */
  concerns?: { word: string; method: DescMethodUnary; request: JsonObject; total: Path };
  /** What the button says that sends the form; by default that the action is done, or that a change is saved. */
  send?: string;
  /** Whether it can be done with such an object. */
  when?: (object: JsonObject) => boolean;
  /** The method whose permission counts, where its own states none that does. */
  asFor?: DescMethodUnary;
  /** The permission to look for, where the schema does not state the one that counts. */
  permission?: string;
  /** What of the answer is shown once. */
  once?: readonly Once[];
  /** What of the answer tells how it came out. */
  outcome?: readonly Outcome[];
  /** What is done next with the answer. */
  next?: Action;
  /** What the notice that it is done says before the word, where that is a name alone. */
  did?: string;
  /** Leads to the new object, or to the list that it stood in. */
  leadsTo?: string;
  /** The tab of it to open. */
  tab?: string;
  /** Where the answer has the ID of the new object. */
  newId?: Path;
  /** What takes it back, while the notice that it was done is shown. */
  undo?: { method: DescMethodUnary; given: Given };
  /** What of the request a preview of the log-in shows. */
  preview?: (request: JsonObject) => Readonly<Record<string, string>>;
  /** It is done for many people who are pasted: the field that each line stands for. */
  pasted?: { field: Path };
};

/** A search, by what is asked of it. */
export type Search = {
  method: DescMethodUnary;
  request: (object: JsonObject, period?: Period, sequence?: Span) => JsonObject;
  isDescending?: true;
};

/** A span of time, as timestamps; open where it has no end. */
export type Period = { from?: string; to?: string };

/** Positions of the log; without an end, up to what comes next. */
export type Span = { from: string; to?: string };

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
  /** A span of time is chosen. */
  isByPeriod?: true;
  /** Where no span of time is chosen it looks at so many positions of the log at a time, the newest first: what it asks for has no index. */
  logWindow?: bigint;
  /** The word for what is listed and what is not, which stands above the list. */
  about?: string;
  /** It lists those who have roles in such a context. */
  membersOf?: MemberContext;
  /** The word for what would be here, where nothing is yet. */
  hint?: string;
};

/**
 * What a list is filtered by: the beginning of a name, an organization, a state, the language that is chosen, a person, a span of time, and of
 * events the request that they come of, with the position of one of them.
 */
export type ListTyped = {
  q: string;
  org: string | undefined;
  state: string;
  language: string;
  person?: string | undefined;
  period?: Period;
  request?: string | undefined;
  near?: string | undefined;
  /** The positions of the log that are looked at. */
  sequence?: Span | undefined;
  /** Of those who log in, people alone: no machines. */
  isHuman?: true;
};

/** The list of all objects of a kind. */
export type Listed = {
  search: {
    method: DescMethodUnary;
    request: (typed: ListTyped) => JsonObject;
    isDescending?: true;
  };
  /** One of the languages that there are is chosen; that of the reader at first. */
  isByLanguage?: true;
  /** What is made here without an organization is the instance’s own. */
  isOfInstance?: true;
  /** Values of an enumeration to choose from. */
  states?: readonly string[];
  /** Events, by name or group, after which it is read anew while it is shown; all of them, where none is named. */
  watches?: readonly string[];
  /** What is in it is no event: its beginning is read anew every few seconds. */
  isPolled?: true;
  /** It looks at so many positions of the log at a time, the newest first: what it asks for has no index. */
  logWindow?: bigint;
  /** It can show what one request did alone. */
  isByRequest?: true;
  /** What is typed is looked for in any part of these texts, whatever the letter case: the method answers all rows at once, and knows no such filter. */
  foundIn?: readonly Path[];
  /** Nothing is filtered by what names begin with. */
  hasNoFilter?: true;
  /** It can show what belongs to one person alone. */
  isByPerson?: true;
  /** A span of time is chosen. */
  isByPeriod?: true;
  /** What a row is called where something is done with it; by default what stands in its first column. */
  name?: (row: JsonObject, nameOf: (kind: Reference, id: string) => string) => string;
  columns: readonly Shown[];
  opens?: Opens;
  actions?: readonly Action[];
  /** What can be done with several at once. */
  selected?: readonly Action[];
  add?: readonly Action[];
  /** What the buttons that add are for, where each says only which kind. */
  addWord?: string;
  /** The word for what would be here, where nothing is yet. */
  hint?: string;
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
  /** Contexts below the one that it belongs to have it too, and decide for themselves what they make of it. */
  isInherited?: true;
  facts: readonly Shown[];
  /** Lists of what belongs to it, within the organization that it is. */
  links?: readonly { to: string; word: string; method: DescMethodUnary }[];
  actions: readonly Action[];
  rows: readonly Rows[];
  history?: Search;
  /** How programs come to use it, each a text to copy; none, where none do. */
  guide?: (object: JsonObject, issuer: string) => readonly Sample[];
  /** What stands above it; by default what says that the secret is not in it, or `guidePublic` where there is none. */
  guideWord?: string;
  /** Whether what is set up by the guide proves itself by a secret. */
  hasSecret?: (object: JsonObject) => boolean;
};

/** A text to copy, and what it is for: a name that is the same in every language, or the word for it. */
export type Sample = { text: string } & ({ name: string } | { word: string });

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
  /** It concerns whoever logs in. */
  concernsPeople?: true;
  /** What of a change a preview of the log-in shows. */
  preview?: Action["preview"];
  /** By setting, what a change of it in the instance concerns. */
  concerns?: Readonly<Record<string, Action["concerns"]>>;
  /** By setting, the values that it may have and what they are called, where they are texts. */
  values?: Readonly<Record<string, Words>>;
  /** Settings that no organization changes. */
  ofInstance?: readonly string[];
  /** Its settings, where they are not declared alike in the schema. */
  settings?: readonly Setting[];
};

/** A setting: what it is called, where its value stands, who set it, and how it is changed. */
export type Setting = { name: string; value: Shown; owner: Path; change: Action; reset: Action };

/** As one word of a shell, whatever stands in it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What the client in TypeScript calls a service. */
export const clientName = (service: string): string =>
  service
    .slice(service.lastIndexOf(".") + 1)
    .replace(/Service$/, "")
    .replace(/^[A-Z]+?(?=[A-Z][a-z]|[a-z]|$)/, (first) => first.toLowerCase());
