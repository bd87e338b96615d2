import type { JsonObject } from "@bufbuild/protobuf";
import { lazy, Suspense } from "react";
import { type Action, at, type Once, type Outcome, type Shown } from "../declared/declare.ts";
import { wordOf } from "../objects/value.tsx";
import { Copyable } from "../parts/code.tsx";
import { t } from "../told.ts";
import style from "./forms.module.css";

// Few answers tell more than texts.
const Outcomes = lazy(async () => ({ default: (await import("./outcome.tsx")).Outcomes }));

const textOf = (answer: JsonObject, { path }: Shown): string => {
  const value = at(answer, path);
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) {
    const texts = value.filter((each) => typeof each === "string");
    return texts.length === value.length ? texts.join("\n") : JSON.stringify(value, undefined, 2);
  }
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value);
};

const toldIn = <T extends Shown>(told: readonly T[] = [], answer: JsonObject): T[] =>
  told.filter((each) => textOf(answer, each) !== "");

const onceIn = ({ once }: Action, answer: JsonObject): Once[] => {
  const told = toldIn(once, answer);
  return told.every(({ isKept }) => isKept) ? [] : told;
};

/** Whether an answer has anything that is told once, or tells how the action came out. */
export const tellsMore = (action: Action, answer: JsonObject): boolean =>
  onceIn(action, answer).length > 0 || toldIn(action.outcome, answer).length > 0;

/** What is told once and never again, as texts to be copied, and how the action came out. */
export function Answer({
  action,
  answer,
  goOn,
}: {
  action: Action;
  answer: JsonObject;
  goOn: () => void;
}) {
  const told = onceIn(action, answer);
  const outcomes: Outcome[] = toldIn(action.outcome, answer);
  return (
    <div className={style["form"]}>
      <p role="status">{t(told.length > 0 ? "shownOnce" : "done")}</p>
      {told.map((each) => (
        <Copyable
          key={each.path}
          name={wordOf(each)}
          text={textOf(answer, each)}
          fileName={each.fileName}
        />
      ))}
      {outcomes.length > 0 && (
        <Suspense>
          <Outcomes {...{ action, answer, outcomes }} />
        </Suspense>
      )}
      <div className={style["buttons"]}>
        <button type="button" autoFocus className={style["primary"]} onClick={goOn}>
          {t(action.next === undefined ? "close" : action.next.word)}
        </button>
      </div>
    </div>
  );
}
