import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { messageOf, refusalOf } from "../calls.ts";
import { download } from "../objects/csv.ts";
import { t } from "../told.ts";
import style from "./forms.module.css";

/** One of many calls: what it is about, and the call. */
export type Run = { label: string; call: () => Promise<unknown> };
type Outcome = { label: string; refused?: string; reason?: string };

/**
 * Many calls, one after the other, with how far they are and what became of each. What is refused holds up no other; closing the
 * dialog ends it after the call that is under way.
 */
export function Runs({
  word,
  runs,
  close,
  again,
}: {
  word: string;
  runs: readonly Run[];
  close: () => void;
  /** Goes back to the form, with those that were refused. */
  again?: (labels: readonly string[]) => void;
}) {
  const outcomes = useOutcomes(runs);
  const refused = outcomes.filter((each) => each.refused !== undefined);
  const isDone = outcomes.length === runs.length;
  const report = () =>
    download(`${t(word)}.csv`, [
      [t("what"), t("state"), t("reason")],
      ...outcomes.map((each) => [each.label, each.refused ?? t("done"), each.reason ?? ""]),
    ]);
  return (
    <div className={style["form"]}>
      <progress aria-label={t(word)} max={runs.length} value={outcomes.length} />
      <p role="status">
        {`${isDone ? `${t("done")}: ` : ""}${outcomes.length - refused.length} / ${runs.length}`}
      </p>
      {refused.length > 0 && (
        <table className={style["compared"]}>
          <caption>{t("refusedRows")}</caption>
          <tbody>
            {refused.map((each) => (
              <tr key={each.label}>
                <th scope="row">{each.label}</th>
                <td>{each.refused}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className={style["buttons"]}>
        {isDone && (
          <button type="button" className={style["button"]} onClick={report}>
            {t("report")}
          </button>
        )}
        {isDone && refused.length > 0 && again !== undefined && (
          <button
            type="button"
            className={style["button"]}
            onClick={() => again(refused.map(({ label }) => label))}
          >
            {t("retry")}
          </button>
        )}
        <button type="button" className={style["primary"]} onClick={close}>
          {t(isDone ? "close" : "cancel")}
        </button>
      </div>
    </div>
  );
}

/** Makes the calls, and gives what became of those that are over. */
function useOutcomes(runs: readonly Run[]): readonly Outcome[] {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const client = useQueryClient();
  const isBegun = useRef(false);
  const isOver = useRef(false);
  useEffect(() => {
    isOver.current = false;
    // Development mounts twice, and calls are made once.
    if (!isBegun.current) {
      isBegun.current = true;
      void begin();
    }
    return () => void (isOver.current = true);
  }, []);
  async function begin(): Promise<void> {
    for (const { label, call } of runs) {
      if (isOver.current) return;
      const outcome = await call().then(
        () => ({ label }),
        (error: unknown) => {
          const refusal = refusalOf(error);
          return { label, refused: messageOf(refusal), reason: refusal.reason };
        },
      );
      setOutcomes((before) => [...before, outcome]);
    }
    await client.invalidateQueries();
  }
  return outcomes;
}
