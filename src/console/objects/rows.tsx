import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { Link, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import {
  at,
  type Period,
  type Rows,
  type Search,
  type Shown,
  type Span,
  textAt,
} from "../declared/declare.ts";
import { fieldAt, keyOfRow, listOf, objectsAt } from "../declared/schema.ts";
import { usePages } from "../json-calls.ts";
import { keepOrg } from "../parts/keep-org.ts";
import { type Column, List } from "../parts/list.tsx";
import { PeriodFilter, periodOf } from "../parts/period.tsx";
import type { Place } from "../rights-of.ts";
import type { PageSearch } from "../routes.ts";
import { t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { rowsOfPage } from "./asked.ts";
import { ExportButton } from "./export-button.tsx";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { rowName, valueOf, wordOf } from "./value.tsx";

const InLog = lazy(async () => ({ default: (await import("./in-log.tsx")).InLog }));

/** What a page knows of itself, for the lists on it. */
export type OnPage = {
  object: JsonObject;
  place: Place | undefined;
  reload: () => Promise<JsonObject | undefined>;
  message: DescMessage | undefined;
  /** What its object is called. */
  name: string;
};

/** A list on the page of an object, with what may be added to it and done with its rows. */
export function RowsOf({ rows, on }: { rows: Rows; on: OnPage }) {
  return (
    <section className={style["rows"]}>
      <h2>{t(rows.word)}</h2>
      {rows.about !== undefined && <p className={style["lead"]}>{t(rows.about)}</p>}
      {rows.add !== undefined && (
        <Actions
          actions={rows.add}
          subject={{ object: on.object, page: on.object }}
          {...{ name: on.name, isNamed: false, place: on.place, reload: on.reload }}
        />
      )}
      {rows.search === undefined ? (
        <Inside rows={rows} on={on} />
      ) : (
        <Searched rows={rows} search={rows.search} on={on} />
      )}
    </section>
  );
}

/** What of a log that is looked at in parts has no index is read whole for a span of time alone: its reader waits for it then. */
function Searched({ rows, search, on }: { rows: Rows; search: Search; on: OnPage }) {
  const { from, to }: PageSearch = useSearch({ strict: false });
  const period = periodOf(from, to);
  const found = { rows, search, on, period };
  if (rows.logWindow === undefined) return <Found {...found} />;
  const isWhole = Object.keys(period).length > 0;
  return (
    <Suspense>
      <InLog
        size={rows.logWindow}
        org={undefined}
        title="h2"
        keep={(same) => same}
        {...{ isWhole }}
      >
        {(sequence) => <Found {...found} {...{ sequence }} rows={asLookedAt(rows, sequence)} />}
      </InLog>
    </Suspense>
  );
}

/** What would be further back is told only where something is. */
const asLookedAt = ({ hint, ...rows }: Rows, sequence: Span | undefined): Rows => ({
  ...rows,
  ...(hint !== undefined && sequence?.from !== "1" && { hint }),
});

/** The rows that are part of the object. */
function Inside({ rows, on }: { rows: Rows; on: OnPage }) {
  const path = rows.path ?? "";
  const list = at(on.object, path);
  const inside = Array.isArray(list)
    ? objectsAt(on.object, path)
    : [list].flatMap((each) => (typeof each === "object" && each !== null ? [each] : []));
  const message = on.message && fieldAt(on.message, path)?.message;
  const pages = { rows: inside, error: null, hasMore: false, isFetchingMore: false };
  return <Table {...{ rows, on, message, pages: { ...pages, more() {}, retry() {} } }} />;
}

function Found({
  rows,
  search,
  on,
  period,
  sequence,
}: {
  rows: Rows;
  search: Search;
  on: OnPage;
  period: Period;
  sequence?: Span | undefined;
}) {
  const { from, to }: PageSearch = useSearch({ strict: false });
  const pages = usePages(search.method, search.request(on.object, period, sequence), {
    isDescending: search.isDescending === true,
    pageSize: rowsOfPage,
  });
  const message = listOf(search.method.output)?.message;
  const { word, columns } = rows;
  return (
    <>
      {rows.isByPeriod === true && (
        <div className={style["filters"]}>
          <PeriodFilter from={from} to={to} />
          <ExportButton
            {...{ word, columns, message }}
            // Whatever part of the log is shown.
            all={() => pages.all(search.request(on.object, period))}
          />
        </div>
      )}
      <Table {...{ rows, on, pages, message }} />
    </>
  );
}

type Pages = Omit<ReturnType<typeof usePages>, "reload" | "all" | "loaded"> & {
  reload?: ReturnType<typeof usePages>["reload"];
};

/** The columns of objects, the first of which leads to their pages. */
export function useColumns(
  message: DescMessage | undefined,
  rows: readonly JsonObject[],
  columns: readonly Shown[],
  opens: Rows["opens"],
): Column<JsonObject>[] {
  const names = useNames(rows, columns);
  return columns.map((column, place) => {
    const show = (row: JsonObject): ReactNode => valueOf(message, row, column, names);
    const isMain = place === 0;
    const linked = (row: JsonObject) =>
      opens === undefined ? (
        show(row)
      ) : (
        <Link
          to={typeof opens.to === "string" ? opens.to : opens.to(row)}
          params={{ id: textAt(row, opens.id) }}
          search={keepOrg}
        >
          {show(row) ?? textAt(row, opens.id)}
        </Link>
      );
    return { title: wordOf(column), isMain, show: isMain ? linked : show };
  });
}

function Table({
  rows: { columns, actions, opens, word, hint, isByPeriod },
  on,
  pages,
  message,
}: {
  rows: Rows;
  on: OnPage;
  pages: Pages;
  message: DescMessage | undefined;
}) {
  const shown = useColumns(message, pages.rows ?? [], columns, opens);
  const names = useNames(pages.rows ?? [], columns);
  const [first] = columns;
  const nameOf = (row: JsonObject) =>
    first === undefined ? "" : rowName(message, row, first, names);
  const reload = async (row: JsonObject) => {
    if (pages.reload === undefined) return on.reload();
    return (await pages.reload()).find((each) => keyOfRow(each) === keyOfRow(row));
  };
  const all: Column<JsonObject>[] =
    actions === undefined
      ? shown
      : [
          ...shown,
          {
            title: t("actions"),
            show: (row) => (
              <Actions
                actions={actions}
                subject={{ object: row, page: on.object }}
                {...{ name: nameOf(row), place: on.place, reload: () => reload(row) }}
              />
            ),
          },
        ];
  const filters = isByPeriod === true ? (["from", "to"] as const) : undefined;
  return <List label={t(word)} {...{ pages, filters, hint }} columns={all} keyOf={keyOfRow} />;
}
