import type { ReactNode } from "react";
import { t } from "../told.ts";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";
import style from "./parts.module.css";

export type Column<R> = {
  title: string;
  show: (row: R) => ReactNode;
  isMain?: boolean;
  /** Boxes that mark rows: their name is for screen readers alone. */
  isNarrow?: boolean;
};

type Pages<R> = {
  rows: readonly R[] | undefined;
  error: unknown;
  hasMore: boolean;
  isFetchingMore: boolean;
  more: () => void;
  retry: () => void;
};

/** A list that goes on page by page: a table where there is room, else a card a row. */
export function List<R>({
  label,
  pages,
  columns,
  keyOf,
}: {
  label: string;
  pages: Pages<R>;
  columns: readonly Column<R>[];
  keyOf: (row: R) => string;
}) {
  const { rows, error, hasMore, isFetchingMore, more, retry } = pages;
  // What was read stays while it cannot be read anew.
  if (error !== null && error !== undefined && rows === undefined)
    return <Problem error={error} retry={retry} title="h2" />;
  if (rows === undefined) return <Waiting />;
  if (rows.length === 0) return <p className={style["empty"]}>{t("empty")}</p>;
  return (
    <>
      <table className={style["table"]}>
        <caption className={style["hidden"]}>{label}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNarrow }) => (
              <th key={title} scope="col">
                {isNarrow === true ? <span className={style["hidden"]}>{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, show, isMain }) =>
                isMain === true ? (
                  <th key={title} scope="row">
                    {show(row)}
                  </th>
                ) : (
                  <td key={title} data-title={title}>
                    {show(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && (
        <button
          type="button"
          className={style["button"]}
          disabled={isFetchingMore}
          onClick={() => more()}
        >
          {t(isFetchingMore ? "loading" : "more")}
        </button>
      )}
    </>
  );
}
