import type { Period } from "../declared/declare.ts";
import { t } from "../page-data.ts";
import { useInAddress } from "./filters.tsx";
import style from "./parts.module.css";

/** The span of time of two days in the reader's zone, the second included. What is no day leaves an end open. */
export function periodOf(from: string | undefined, to: string | undefined): Period {
  const begin = new Date(`${from ?? ""}T00:00`);
  const end = new Date(`${to ?? ""}T00:00`);
  end.setDate(end.getDate() + 1);
  return {
    ...(Number.isNaN(begin.getTime()) ? {} : { from: begin.toISOString() }),
    ...(Number.isNaN(end.getTime()) ? {} : { to: end.toISOString() }),
  };
}

/** The first and the last day of what is shown, which stand in the address. */
export function PeriodFilter({ from, to }: { from: string | undefined; to: string | undefined }) {
  const put = useInAddress();
  return [["from", t("periodFrom"), from] as const, ["to", t("periodTo"), to] as const].map(
    ([name, word, value]) => (
      <label key={name} className={style["filter"]}>
        <span>{word}</span>
        <input type="date" value={value ?? ""} onChange={({ target }) => put(name, target.value)} />
      </label>
    ),
  );
}
