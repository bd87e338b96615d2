import type { DescMethodUnary } from "@bufbuild/protobuf";
import type {
  Action,
  Field,
  Kind,
  Listed,
  Rows,
  SettingsGroup,
  Shown,
  Ways,
} from "../../src/console/declared/declare.ts";
import { checks } from "../../src/console/declared/health.ts";
import { firstSteps } from "../../src/console/declared/home.ts";
import { settingsOf } from "../../src/console/declared/settings.ts";
import { fieldAt, listOf } from "../../src/console/declared/schema.ts";
import { ownInstance } from "../../src/console/declared/own-instance.ts";
import { importJob, imports } from "../../src/console/declared/transfer.ts";
import { objects, pages } from "../../src/console/routes.ts";

/** All that the console declares, with the path of the page that it is on. */
export const declaredLists: { path: string; area: string; word: string; listed: Listed }[] = [];
export const declaredKinds: { path: string; kind: Kind }[] = [];
export const declaredSettings: { path: string; word: string; group: SettingsGroup }[] = [];
for (const page of pages) {
  const { path, area, word } = page;
  if (page.shows === "list") declaredLists.push({ path, area, word, listed: await page.load() });
  if (page.shows === "settings") declaredSettings.push({ path, word, group: await page.load() });
}
declaredLists.push({ path: "/transfer", area: "settings", word: "imports", listed: imports });
for (const { path, load } of objects) declaredKinds.push({ path, kind: await load() });

/** An action, and where it is offered. */
export type Offered = { path: string; tab: string; action: Action };

const withNext = (action: Action): Action[] =>
  action.next === undefined ? [action] : [action, ...withNext(action.next)];

const offer = (path: string, tab: string, actions: readonly Action[] = []): Offered[] =>
  actions.flatMap(withNext).map((action) => ({ path, tab, action }));

export const offered: readonly Offered[] = [
  ...offer("/transfer", "", importJob.actions),
  ...declaredLists.flatMap(({ path, listed }) => [
    ...offer(path, "", listed.selected),
    ...offer(path, "", listed.add),
    ...offer(path, "", listed.actions),
  ]),
  ...declaredKinds.flatMap(({ path, kind }) => [
    ...offer(path, "overview", kind.actions),
    ...kind.rows.flatMap(({ tab, add, actions }) => [
      ...offer(path, tab, add),
      ...offer(path, tab, actions),
    ]),
  ]),
  ...declaredSettings.flatMap(({ path, group }) =>
    settingsOf(group).flatMap(({ change, reset }) => offer(path, "", [change, reset])),
  ),
];

const isWays = (each: Field | Ways): each is Ways => "ways" in each;

/** The fields of an action, whichever way is chosen. */
export const allFields = ({ fields = [] }: Action): Field[] =>
  fields.flatMap((each) => (isWays(each) ? each.ways.flatMap((way) => way.fields ?? []) : [each]));

/** The methods that values of forms are chosen from. */
export const allChoices: readonly { path: string; method: DescMethodUnary }[] = offered.flatMap(
  ({ path, action }) =>
    allFields(action).flatMap(({ choices }) =>
      choices === undefined ? [] : [{ path, method: choices.method }],
    ),
);

/** What stands on the lists and pages, each with the message that it is read from. */
export const allShown: readonly { shown: Shown; message: ReturnType<typeof messageOf> }[] = [
  ...declaredLists.flatMap(({ listed }) =>
    listed.columns.map((shown) => ({ shown, message: rowOf(listed.search.method) })),
  ),
  ...declaredKinds.flatMap(({ kind }) => {
    const message = messageOf(kind.get, kind.object);
    return [
      ...kind.facts.map((shown) => ({ shown, message })),
      ...kind.rows.flatMap((rows) =>
        rows.columns.map((shown) => ({ shown, message: messageOfRows(rows, message) })),
      ),
    ];
  }),
  ...declaredSettings.flatMap(({ group }) =>
    settingsOf(group).map(({ value }) => ({ shown: value, message: group.resolve.output })),
  ),
  ...ownInstance.facts.map((shown) => ({
    shown,
    message: messageOf(ownInstance.get, ownInstance.object),
  })),
  ...importJob.facts.map((shown) => ({
    shown,
    message: messageOf(importJob.get, importJob.object),
  })),
  ...offered.flatMap(({ action }) => [
    ...(action.once ?? []).map((shown) => ({ shown, message: action.method.output })),
    ...(action.outcome ?? []).flatMap(({ columns = [], ...shown }) => [
      { shown, message: action.method.output },
      ...columns.map((each) => ({ shown: each, message: messageOf(action.method, shown.path) })),
    ]),
  ]),
];

function messageOf(method: DescMethodUnary, path: string) {
  return fieldAt(method.output, path)?.message;
}
function rowOf(method: DescMethodUnary) {
  return listOf(method.output)?.message;
}
function messageOfRows({ search, path = "" }: Rows, message: ReturnType<typeof messageOf>) {
  if (search !== undefined) return rowOf(search.method);
  return message && fieldAt(message, path)?.message;
}

const wordOf = ({ path, word }: { path: string; word?: string }): string =>
  word ?? `field_${path.slice(path.lastIndexOf(".") + 1)}`;

/** The names of the values of a field that is an enumeration, but for the one that stands for none. */
const valuesOf = (message: ReturnType<typeof messageOf>, path: string): string[] =>
  ((message && fieldAt(message, path)?.enum?.values) ?? [])
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name);

/** All words that the declarations say. */
export const declaredWords = (): string[] => [
  ...pages.flatMap(({ area, word }) => [area, word]),
  ...ownInstance.amounts.map(({ word }) => word),
  ...firstSteps.map(({ word }) => word),
  ...checks.map(({ word }) => word),
  ...declaredLists.flatMap(({ listed }) => [listed.addWord ?? [], listed.hint ?? []].flat()),
  ...declaredLists.flatMap(({ listed }) => listed.states ?? []),
  ...declaredKinds.flatMap(({ kind }) => [
    kind.back.word,
    ...(kind.links ?? []).map(({ word }) => word),
    ...kind.rows.flatMap(({ word, tab, hint, about }) => [
      word,
      tab,
      ...[hint ?? [], about ?? []].flat(),
    ]),
  ]),
  ...allShown.flatMap(({ shown, message }) => [
    wordOf(shown),
    ...[shown.empty ?? [], shown.zero ?? []].flat(),
    ...Object.values(shown.values ?? {}),
    // What is said in the place of a value.
    ...(shown.says === undefined ? valuesOf(message, shown.path) : []),
  ]),
  ...declaredKinds.flatMap(({ kind }) => (kind.guide ? (kind.guideWord ?? "guideLead") : [])),
  ...declaredKinds.flatMap(({ kind }) => (kind.hasSecret ? "guidePublic" : [])),
  ...offered.flatMap(({ action }) => [
    action.word,
    ...[action.about ?? [], action.did ?? [], action.send ?? []].flat(),
    ...[action.concerns?.word ?? []].flat(),
    ...(action.fields ?? []).flatMap((each) =>
      isWays(each) ? [each.word, ...each.ways.map(({ word }) => word)] : [],
    ),
    ...allFields(action).flatMap((field) => [
      wordOf(field),
      ...[field.hint ?? []].flat(),
      ...valuesOf(action.method.input, field.path),
    ]),
  ]),
];
