import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FirstStep, firstSteps, mayTake } from "../declared/home.ts";
import { answerOf } from "../json-calls.ts";
import { t } from "../page-data.ts";
import { useRights } from "../rights.ts";
import style from "./objects.module.css";

/** Steps, each with whether it was taken, where that is known. */
type Taken = {
  steps: readonly { step: FirstStep; isTaken: boolean }[];
  /** One of them is known to be still to be taken. */
  areOpen: boolean;
  /** All are known to have been taken. */
  areTaken: boolean;
};

/** The first steps that the reader may take. */
export function useSteps(): Taken {
  const { me, may } = useRights();
  const shown = firstSteps.filter((step) => mayTake(step, may));
  const answers = useQueries({
    queries: shown.map(({ method, request }) => answerOf(method, request(me))),
  });
  const known = shown.map((step, nth) => {
    const { data } = answers[nth] ?? {};
    return { step, isTaken: data === undefined ? undefined : step.isTaken(data) };
  });
  return {
    steps: known.map(({ step, isTaken }) => ({ step, isTaken: isTaken === true })),
    areOpen: known.some(({ isTaken }) => isTaken === false),
    areTaken: known.length > 0 && known.every(({ isTaken }) => isTaken === true),
  };
}

export function Steps({ steps: { steps } }: { steps: Taken }) {
  if (steps.length === 0) return <p className={style["lead"]}>{t("empty")}</p>;
  return (
    <ol className={style["steps"]}>
      {steps.map(({ step: { word, to }, isTaken }) => (
        <li key={word}>
          {to.startsWith("/ui/") ? <a href={to}>{t(word)}</a> : <Link to={to}>{t(word)}</Link>}{" "}
          {isTaken && <span className={style["taken"]}>{t("done")}</span>}
        </li>
      ))}
    </ol>
  );
}
