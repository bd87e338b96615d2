import { type ReactNode, useId } from "react";
import style from "./forms.module.css";

/** A label above a control, and below it what helps and what is wrong. */
export function Labelled({
  word,
  error,
  hint,
  children,
}: {
  word: string;
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
      <label htmlFor={id}>{word}</label>
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
