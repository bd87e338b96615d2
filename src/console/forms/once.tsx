import type { JsonObject } from "@bufbuild/protobuf";
import { lazy, Suspense } from "react";
import { type Action, at, type Shown, type Told } from "../declared/declare.ts";
import { wordOf } from "../objects/value.tsx";
import { Copyable } from "../parts/code.tsx";
import { t } from "../told.ts";
import style from "./forms.module.css";

// Few answers tell a list.
const ToldList = lazy(async () => ({ default: (await import("./told-list.tsx")).ToldList }));

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
          <Suspense key={each.path}>
            <ToldList {...{ action, answer, told: each, columns: each.columns }} />
          </Suspense>
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
