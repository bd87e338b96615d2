import { type ReactNode, useEffect, useRef } from "react";
import { numberText, t } from "../page-data.ts";
import { type FilteredBy, Nothing } from "./nothing.tsx";
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
  goesOn = false,
  filters,
  hint,
}: {
  label: string;
  pages: Pages<R>;
  columns: readonly Column<R>[];
  keyOf: (row: R) => string;
  /** It is the last on its page: its next part is read when the reader comes to the end. */
  goesOn?: boolean;
  filters?: FilteredBy | undefined;
  /** The word for what would be here, where nothing is yet. */
  hint?: string | undefined;
}) {
  const { rows, error, retry } = pages;
  // What was read stays while it cannot be read anew.
  if (error !== null && error !== undefined && rows === undefined)
    return <Problem error={error} retry={retry} title="h2" />;
  if (rows === undefined) return <Waiting />;
  if (rows.length === 0) return <Nothing {...{ filters, hint }} />;
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
      {goesOn && (
        <p className={style["shown"]} role="status">
          {`${t(pages.hasMore ? "shownSoFar" : "shownAll")}: ${numberText(String(rows.length))}`}
        </p>
      )}
      {pages.hasMore && <More pages={pages} goesOn={goesOn} />}
    </>
  );
}

/** How near its end somebody comes to a list that goes on. */
const nearby = "400px";

/** The button for the next part of a list. Where the list goes on by itself, whoever sees the button need not press it. */
function More({
  pages: { error, isFetchingMore, more },
  goesOn,
}: {
  pages: Omit<Pages<unknown>, "rows">;
  goesOn: boolean;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const next = useRef(more);
  useEffect(() => void (next.current = more));
  // What was refused is asked again by hand alone.
  const isWaiting = goesOn && !isFetchingMore && (error === null || error === undefined);
  useEffect(() => {
    if (!isWaiting || button.current === null) return;
    const end = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) next.current();
      },
      { rootMargin: nearby },
    );
    end.observe(button.current);
    return () => end.disconnect();
  }, [isWaiting]);
  return (
    <button
      ref={button}
      type="button"
      className={style["button"]}
      // It keeps the focus of whoever works by keyboard.
      aria-disabled={isFetchingMore}
      onClick={() => isFetchingMore || more()}
    >
      {t(isFetchingMore ? "loading" : "more")}
    </button>
  );
}
