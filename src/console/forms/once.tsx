import type { JsonObject } from "@bufbuild/protobuf";
import { type Action, at, type Shown, type Told } from "../declared/declare.ts";
import { fieldAt, keyOfRow, objectsAt } from "../declared/schema.ts";
import { useColumns } from "../objects/rows.tsx";
import { wordOf } from "../objects/value.tsx";
import { Copyable } from "../parts/code.tsx";
import { List } from "../parts/list.tsx";
import { t } from "../told.ts";
import style from "./forms.module.css";

const textOf = (answer: JsonObject, { path }: Shown): string => {
  const value = at(answer, path);
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) {
    const texts = value.filter((each) => typeof each === "string");
    return texts.length === value.length ? texts.join("\n") : JSON.stringify(value, undefined, 2);
  }
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value);
};

const toldIn = (action: Action, answer: JsonObject): Told[] =>
  (action.once ?? []).filter((each) => textOf(answer, each) !== "");

/** Whether an answer has anything that is told once. */
export const tellsOnce = (action: Action, answer: JsonObject): boolean =>
  toldIn(action, answer).length > 0;

/** What is told once and never again: texts to be copied, and lists. */
export function Once({
  action,
  answer,
  goOn,
}: {
  action: Action;
  answer: JsonObject;
  goOn: () => void;
}) {
  const told = toldIn(action, answer);
  const isText = told.every(({ columns }) => columns === undefined);
  return (
    <div className={style["form"]}>
      <p role="status">{t(isText ? "shownOnce" : "done")}</p>
      {told.map((each) =>
        each.columns === undefined ? (
          <Copyable key={each.path} name={wordOf(each)} text={textOf(answer, each)} />
        ) : (
          <ToldList key={each.path} {...{ action, answer, told: each, columns: each.columns }} />
        ),
      )}
      <div className={style["buttons"]}>
        <button type="button" autoFocus className={style["primary"]} onClick={goOn}>
          {t(action.next === undefined ? "close" : action.next.word)}
        </button>
      </div>
    </div>
  );
}

function ToldList({
  action,
  answer,
  told,
  columns,
}: {
  action: Action;
  answer: JsonObject;
  told: Told;
  columns: readonly Shown[];
}) {
  const rows = objectsAt(answer, told.path);
  const shown = useColumns(
    fieldAt(action.method.output, told.path)?.message,
    rows,
    columns,
    undefined,
  );
  return (
    <>
      <h3>{wordOf(told)}</h3>
      <List
        label={wordOf(told)}
        pages={{ rows, error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} }}
        columns={shown}
        keyOf={keyOfRow}
      />
    </>
  );
}
