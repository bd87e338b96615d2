import { type ReactNode, useId } from "react";
import { t } from "../page-data.ts";
import style from "./forms.module.css";

/**
 * A label above a control, and below it what helps and what is wrong. That the control has to be filled in is seen at the label; screen
 * readers say it of the control, by `required`.
 */
export function Labelled({
  word,
  isRequired = false,
  error,
  hint,
  children,
}: {
  word: string;
  isRequired?: boolean;
  error: string | undefined;
  hint?: string | undefined;
  children: (ids: { id: string; describedBy: string | undefined }) => ReactNode;
}) {
  const id = useId();
  const wrong = `${id}-wrong`;
  const help = `${id}-hint`;
  const described = [
    ...(hint === undefined ? [] : [help]),
    ...(error === undefined ? [] : [wrong]),
  ];
  return (
    <div className={style["field"]}>
      <span className={style["label"]}>
        <label htmlFor={id}>{word}</label>
        {isRequired && (
          <span className={style["required"]} aria-hidden>
            {t("required")}
          </span>
        )}
      </span>
      {children({ id, describedBy: described.join(" ") || undefined })}
      {hint !== undefined && (
        <p id={help} className={style["hint"]}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={wrong} className={style["wrong"]}>
          {error}
        </p>
      )}
    </div>
  );
}
