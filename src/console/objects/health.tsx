import { Link } from "@tanstack/react-router";
import { type Check, checks, headOfLog } from "../declared/health.ts";
import { useAnswer } from "../json-calls.ts";
import { useRights } from "../rights.ts";
import { numberText, t } from "../page-data.ts";
import style from "./objects.module.css";

function useChecks(): readonly Check[] {
  const { may } = useRights();
  return checks.filter(({ method }) => may(method, { isInstance: true }));
}

/** Whether there is anything that the reader may look at in the instance. */
export const useHasHealth = (): boolean => useChecks().length > 0;

/** What is looked at in the instance, as far as the reader may, and what of it needs somebody. */
export function Health() {
  const shown = useChecks();
  const { data } = useAnswer(
    headOfLog.method,
    shown.some(({ isByHead }) => isByHead === true) ? headOfLog.request : undefined,
  );
  if (shown.length === 0) return null;
  return (
    <section className={style["rows"]}>
      <h2>{t("health")}</h2>
      <ul className={style["checks"]}>
        {shown.map((check) => (
          <Looked key={check.word} check={check} head={data && headOfLog.head(data)} />
        ))}
      </ul>
    </section>
  );
}

function Looked({ check, head }: { check: Check; head: bigint | undefined }) {
  const { word, to, state, method, request, isByHead = false, found } = check;
  const wanted = isByHead && head === undefined ? undefined : request(head ?? 0n);
  const { data, error } = useAnswer(method, wanted);
  const wrong = data === undefined ? 0 : found(data);
  return (
    <li>
      <Link to={to} search={state === undefined ? {} : { state }}>
        {t(word)}
      </Link>{" "}
      {error !== null && <span className={style["needed"]}>{t("failed")}</span>}
      {data !== undefined &&
        (wrong === 0 ? (
          <span className={style["taken"]}>{t("inOrder")}</span>
        ) : (
          <span
            className={style["needed"]}
          >{`${t("needsYou")}: ${numberText(String(wrong))}`}</span>
        ))}
    </li>
  );
}
