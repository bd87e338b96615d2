import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { contextOf, type Span } from "../declared/declare.ts";
import { headOfLog } from "../declared/health.ts";
import { useAnswer } from "../json-calls.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { PageSearch } from "../routes.ts";
import { numberText, t } from "../page-data.ts";
import { spanOf } from "./asked.ts";
import style from "./objects.module.css";

/**
 * Shows what is in a part of the log: the one that the address names, else the newest. Below stands which it is, with the way to the part
 * before it.
 */
export function InLog({
  size,
  org,
  title = "h1",
  keep,
  children,
}: {
  size: bigint;
  /** Whose log is asked for; that of the instance without it. */
  org: string | undefined;
  /** What the title of a refusal is. */
  title?: "h1" | "h2";
  /** What of the address stays on the way to the part before. */
  keep: (search: PageSearch) => PageSearch;
  children: (sequence: Span) => ReactNode;
}) {
  const { near }: PageSearch = useSearch({ strict: false });
  const asked = { ...contextOf(org), ...headOfLog.request };
  const { data, error, refetch } = useAnswer(headOfLog.method, asked);
  if (data === undefined) {
    const retry = () => void refetch();
    return error === null ? <Waiting /> : <Problem {...{ error, retry, title }} />;
  }
  const { from, last, ...end } = spanOf(size, headOfLog.head(data), near);
  const before = BigInt(from) - 1n;
  return (
    <>
      {children({ from, ...end })}
      <p className={style["lead"]}>
        {`${t("lookedAt")}: ${numberText(from)} – ${numberText(last)} `}
        {before > 0n && (
          <Link to="." search={(search: PageSearch) => ({ ...keep(search), near: String(before) })}>
            {t("furtherBack")}
          </Link>
        )}
      </p>
    </>
  );
}
