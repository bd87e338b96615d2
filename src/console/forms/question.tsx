import type { ReactNode } from "react";
import { t } from "../told.ts";
import style from "./forms.module.css";

/** Asks once more, with the name of what is lost. */
export const Sure = ({ name }: { name: string }) => <p>{t("sure").replace("{name}", name)}</p>;

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
    <div className={style["buttons"]}>
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
