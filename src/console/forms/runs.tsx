import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { messageOf, type Refusal, refusalOf } from "../calls.ts";
import { download } from "../objects/csv.ts";
import { refresh } from "../objects/refresh.ts";
import { useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import { useWhenBack } from "./again.ts";
import style from "./forms.module.css";
import { RefusedCall } from "./refused.tsx";

/** One of many calls: what it is about, and the call. */
export type Run = { label: string; call: () => Promise<unknown> };
type Outcome = { label: string; refused?: string; reason?: string };

/**
 * Many calls, one after the other, with how far they are and what became of each. What is refused holds up no other; closing the
 * dialog ends it after the call that is under way. Where the session has ended, or a step-up is asked for, it waits until the reader has
 * logged in beside, and goes on with the call that was refused.
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
  const { outcomes, halted, goOn } = useOutcomes(runs);
  const { me } = useRights();
  const { wait } = useWhenBack(me.userId, goOn);
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
      {halted !== undefined && <RefusedCall refusal={halted} beside={wait} />}
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

/** Makes the calls, and gives what became of those that are over, and the refusal that they wait at. */
function useOutcomes(runs: readonly Run[]) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [halted, setHalted] = useState<Refusal>();
  const client = useQueryClient();
  const isBegun = useRef(false);
  const isOver = useRef(false);
  const resume = useRef(() => {});
  useEffect(() => {
    isOver.current = false;
    // Development mounts twice, and calls are made once.
    if (!isBegun.current) {
      isBegun.current = true;
      void begin();
    }
    return () => {
      isOver.current = true;
      resume.current();
    };
  }, []);
  async function begin(): Promise<void> {
    for (const run of runs) {
      for (;;) {
        if (isOver.current) return;
        const refusal = await run.call().then(
          () => undefined,
          (error: unknown) => refusalOf(error),
        );
        if (refusal?.isSignedOut !== true && refusal?.isStepUp !== true) {
          setOutcomes((before) => [...before, outcomeOf(run, refusal)]);
          break;
        }
        setHalted(refusal);
        await new Promise<void>((resolve) => (resume.current = resolve));
        setHalted(undefined);
      }
    }
    await refresh(client);
  }
  return { outcomes, halted, goOn: () => resume.current() };
}

const outcomeOf = ({ label }: Run, refusal: Refusal | undefined): Outcome =>
  refusal === undefined
    ? { label }
    : { label, refused: messageOf(refusal), reason: refusal.reason };
