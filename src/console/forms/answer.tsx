import type { JsonObject } from "@bufbuild/protobuf";
import { lazy, Suspense } from "react";
import { type Action, at, type Once, type Outcome, type Shown } from "../declared/declare.ts";
import { wordOf } from "../objects/value.tsx";
import { Copyable } from "../parts/copyable.tsx";
import { t } from "../page-data.ts";
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

const filledIn = <T extends Shown>(shown: readonly T[] = [], answer: JsonObject): T[] =>
  shown.filter((each) => textOf(answer, each) !== "");

const onceIn = ({ once }: Action, answer: JsonObject): Once[] => {
  const filled = filledIn(once, answer);
  return filled.every(({ isKept }) => isKept) ? [] : filled;
};

/** Whether an answer has anything to show: what is shown once, or how the action came out. */
export const hasMore = (action: Action, answer: JsonObject): boolean =>
  onceIn(action, answer).length > 0 || filledIn(action.outcome, answer).length > 0;

/** What is shown once and never again, as texts to be copied, and how the action came out. */
export function Answer({
  action,
  answer,
  goOn,
}: {
  action: Action;
  answer: JsonObject;
  goOn: () => void;
}) {
  const once = onceIn(action, answer);
  const outcomes: Outcome[] = filledIn(action.outcome, answer);
  return (
    <div className={style["form"]}>
      <p role="status">{t(once.length > 0 ? "shownOnce" : "done")}</p>
      {once.map((each) => (
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
