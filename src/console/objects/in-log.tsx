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
 * before it. Where all of it is shown what stands there stays: a field keeps the focus of whoever chooses that by it.
 */
export function InLog({
  size,
  org,
  isWhole = false,
  title = "h1",
  keep,
  children,
}: {
  size: bigint;
  /** Whose log is asked for; that of the instance without it. */
  org: string | undefined;
  /** All of the log is shown. */
  isWhole?: boolean;
  /** What the title of a refusal is. */
  title?: "h1" | "h2";
  /** What of the address stays on the way to the part before. */
  keep: (search: PageSearch) => PageSearch;
  children: (sequence: Span | undefined) => ReactNode;
}) {
  const { near }: PageSearch = useSearch({ strict: false });
  const request = { ...contextOf(org), ...headOfLog.request };
  const { data, error, refetch } = useAnswer(headOfLog.method, request);
  if (data === undefined && !isWhole) {
    const retry = () => void refetch();
    return error === null ? <Waiting /> : <Problem {...{ error, retry, title }} />;
  }
  const span = isWhole || data === undefined ? undefined : spanOf(size, headOfLog.head(data), near);
  return (
    <>
      {children(span && asked(span))}
      {span !== undefined && <LookedAt {...{ span, keep }} />}
    </>
  );
}

/** The positions to ask for; the last one is shown alone. */
const asked = ({ from, to }: Span): Span => ({ from, ...(to === undefined ? {} : { to }) });

function LookedAt({
  span: { from, last },
  keep,
}: {
  span: Span & { last: string };
  keep: (search: PageSearch) => PageSearch;
}) {
  const before = BigInt(from) - 1n;
  return (
    <p className={style["lead"]}>
      {`${t("lookedAt")}: ${numberText(from)} – ${numberText(last)} `}
      {before > 0n && (
        <Link to="." search={(search: PageSearch) => ({ ...keep(search), near: String(before) })}>
          {t("furtherBack")}
        </Link>
      )}
    </p>
  );
}
