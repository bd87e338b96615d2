import type { Refusal } from "../calls.ts";
import { Refused } from "../parts/problem.tsx";
import { t } from "../page-data.ts";
import { logInBeside } from "./again.ts";
import style from "./forms.module.css";

/** What comes up at the end of a long form is shown to whoever stands at its button. */
export const intoView = (element: HTMLElement | null) =>
  element?.scrollIntoView({ block: "nearest" });

/** Why a change was refused, and what would be right: what was typed stays. */
export function RefusedCall({ refusal, beside }: { refusal: Refusal; beside: () => void }) {
  const { isSignedOut, isStepUp, isLost } = refusal;
  const word = isSignedOut ? "ended" : isStepUp ? "proveAnew" : isLost ? "lost" : "failed";
  return (
    <div ref={intoView} className={style["refused"]} role="alert">
      <h3>{t(word)}</h3>
      <Refused refusal={refusal} />
      {(isSignedOut || isStepUp) && (
        <button
          type="button"
          className={style["button"]}
          onClick={() => {
            beside();
            logInBeside(refusal.facts);
          }}
        >
          {t("logInBeside")}
        </button>
      )}
    </div>
  );
}
