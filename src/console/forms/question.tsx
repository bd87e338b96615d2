import type { ReactNode } from "react";
import { type Action, textAt } from "../declared/declare.ts";
import { useAnswer } from "../json-calls.ts";
import { useRights } from "../rights.ts";
import { numberText, t } from "../page-data.ts";
import style from "./forms.module.css";

/** What follows from an action; where nothing is said of a dangerous one, it asks once more with the name of what is lost. */
export function About({ action, name }: { action: Action; name: string }) {
  if (action.about !== undefined) return <p>{t(action.about)}</p>;
  return action.isDangerous === true && <p>{t("sure").replace("{name}", name)}</p>;
}

/** What an action concerns, by as many as there are and the reader may know of. */
export function Concerns({ concerns }: { concerns: NonNullable<Action["concerns"]> }) {
  const { word, method, request, total } = concerns;
  const { may } = useRights();
  const { data } = useAnswer(method, may(method) ? request : undefined);
  const count = textAt(data, total);
  if (count === "" || count === "0") return null;
  return <p role="status">{t(word).replace("{n}", numberText(count))}</p>;
}

/** The two buttons that end a form: to let it be, and to send it. */
export function Buttons({
  close,
  isSending = false,
  isDangerous,
  children,
}: {
  close: () => void;
  isSending?: boolean;
  isDangerous: boolean;
  children: ReactNode;
}) {
  return (
    <div className={style["pair"]}>
      <button type="button" className={style["button"]} onClick={close}>
        {t("cancel")}
      </button>
      <button
        type="submit"
        disabled={isSending}
        className={style[isDangerous ? "danger" : "primary"]}
      >
        {children}
      </button>
    </div>
  );
}
