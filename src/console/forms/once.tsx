import type { JsonObject } from "@bufbuild/protobuf";
import { type Action, at, type Shown } from "../declared/declare.ts";
import { wordOf } from "../objects/value.tsx";
import { Copyable } from "../parts/code.tsx";
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

/** What is told once and never again, to be copied. */
export function Once({
  action,
  answer,
  goOn,
}: {
  action: Action;
  answer: JsonObject;
  goOn: () => void;
}) {
  const shown = (action.once ?? []).filter((each) => textOf(answer, each) !== "");
  return (
    <div className={style["form"]}>
      {shown.length > 0 && <p role="status">{t("shownOnce")}</p>}
      {shown.map((each) => (
        <Copyable key={each.path} name={wordOf(each)} text={textOf(answer, each)} />
      ))}
      {shown.length === 0 && <p role="status">{t("done")}</p>}
      <div className={style["buttons"]}>
        <button type="button" autoFocus className={style["primary"]} onClick={goOn}>
          {t(action.next === undefined ? "close" : action.next.word)}
        </button>
      </div>
    </div>
  );
}
