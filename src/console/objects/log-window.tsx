import { Link, useSearch } from "@tanstack/react-router";
import { contextOf } from "../declared/declare.ts";
import { headOfLog } from "../declared/health.ts";
import { useAnswer } from "../json-calls.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useOrg } from "../rights.ts";
import type { PageSearch } from "../routes.ts";
import { numberText, t } from "../page-data.ts";
import { spanOf } from "./asked.ts";
import { ListPage, type ListProps } from "./list-page.tsx";
import style from "./objects.module.css";

/** A list of what is in a part of the log, the newest at first, and the way to the part before it. */
export function LogListPage({ size, ...list }: ListProps & { size: bigint }) {
  const { near }: PageSearch = useSearch({ strict: false });
  const org = useOrg();
  const asked = { ...contextOf(org), ...headOfLog.request };
  const { data, error, refetch } = useAnswer(headOfLog.method, asked);
  if (data === undefined) {
    return error === null ? <Waiting /> : <Problem error={error} retry={() => void refetch()} />;
  }
  const { from, last, ...end } = spanOf(size, headOfLog.head(data), near);
  const before = BigInt(from) - 1n;
  return (
    <>
      <ListPage {...list} sequence={{ from, ...end }} />
      <p className={style["lead"]}>
        {`${t("lookedAt")}: ${numberText(from)} – ${numberText(last)} `}
        {before > 0n && (
          <Link
            to="."
            search={(search: PageSearch) => ({ ...keepOrg(search), near: String(before) })}
          >
            {t("furtherBack")}
          </Link>
        )}
      </p>
    </>
  );
}
