import type { JsonObject } from "@bufbuild/protobuf";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Listed, type ListTyped, textAt } from "../declared/declare.ts";
import { keyOfRow, listOf } from "../declared/schema.ts";
import { usePages } from "../json-calls.ts";
import { ChoiceFilter, Filter, LanguageFilter } from "../parts/filters.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { type Column, List } from "../parts/list.tsx";
import type { FilteredBy } from "../parts/nothing.tsx";
import { PeriodFilter, periodOf } from "../parts/period.tsx";
import { PersonFilter } from "../parts/person-filter.tsx";
import { useOrg, useRights } from "../rights.ts";
import type { Place } from "../rights-of.ts";
import type { PageRoute, PageSearch } from "../routes.ts";
import { language as ownLanguage, t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { ExportButton } from "./export-button.tsx";
import { type Names, useNames } from "./names.ts";
import style from "./objects.module.css";
import { useColumns } from "./rows.tsx";
import { createMarks, Mark, Marked } from "./marks.tsx";
import { Siblings } from "./siblings.tsx";
import { rowName } from "./value.tsx";
import { useWatch } from "./watch.ts";

const pollMs = 5_000;
/** Whoever has read on is not called back to the beginning. */
const mostPolled = 50;

export type ListProps = { route: PageRoute; listed: Listed } & Pick<ListTyped, "sequence">;

/** The list of all objects of a kind, as its declaration says, with what may be made there. */
export function ListPage({ route, listed, sequence }: ListProps) {
  const search: PageSearch = useSearch({ strict: false });
  const { q = "", state = "", language = ownLanguage, request: ofRequest, near } = search;
  const { person, from, to } = search;
  const org = useOrg();
  const { method, request, isDescending = false } = listed.search;
  const typed = { q, org, state, language, person, sequence, period: periodOf(from, to) };
  const asked = usePages(method, request({ ...typed, request: ofRequest, near }), {
    isDescending,
    ...(listed.isPolled && { again: (rows) => (rows.length <= mostPolled ? pollMs : false) }),
  });
  const pages = found(asked, listed.foundIn, q);
  const message = listOf(method.output)?.message;
  const ofInstance = listed.isOfInstance === true ? ({ isInstance: true } as const) : undefined;
  const place = org === undefined ? ofInstance : { organizationId: org, isWithin: true as const };
  const { me, may } = useRights();
  const page = { instance: me.instanceId, ...(org === undefined ? {} : { org }) };
  const watched = {
    types: listed.watches,
    calls: pages.loaded,
    ...(org === undefined ? {} : { org }),
  };
  // What cannot be read anew stays as it was read.
  useWatch(watched, () => void pages.reload().catch(() => undefined));
  const names = useNames(pages.rows ?? [], listed.columns);
  const columns = useListColumns(listed, pages.rows ?? [], {
    place,
    page,
    names,
    reload: pages.reload,
  });
  const [marks] = useState(createMarks);
  const nameOf = nameIn(listed, names);
  const selected = listed.selected?.filter((action) => may(action.method)) ?? [];
  const mark = (row: JsonObject) => <Mark {...{ marks, row }} name={nameOf(row)} />;
  const markColumn = { title: t("mark"), show: mark, isNarrow: true };
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      {listed.add !== undefined && (
        <Actions
          actions={listed.add}
          subject={{ object: page, page }}
          name=""
          lead={listed.addWord && t(listed.addWord)}
          place={place}
        />
      )}
      {listed.isByRequest === true && ofRequest !== undefined && <OfRequest id={ofRequest} />}
      <div className={style["filters"]}>
        {listed.hasNoFilter !== true && <Filter key={org ?? ""} q={q} label={filterOf(listed)} />}
        {listed.states !== undefined && (
          <ChoiceFilter
            {...{ name: "state", word: "state", chosen: state }}
            options={[["", t("all")], ...listed.states.map((each) => [each, t(each)] as const)]}
          />
        )}
        {listed.isByPerson === true && <PersonFilter person={person ?? ""} />}
        {listed.isByPeriod === true && <PeriodFilter from={from} to={to} />}
        {listed.isByLanguage === true && <LanguageFilter chosen={language} />}
        <ExportButton word={route.word} columns={listed.columns} {...{ message, all: pages.all }} />
      </div>
      <List
        label={t(route.word)}
        pages={pages}
        keyOf={keyOfRow}
        columns={selected.length === 0 ? columns : [markColumn, ...columns]}
        filters={filtersOf(listed)}
        hint={listed.hint}
        goesOn
      />
      <Marked {...{ marks, nameOf }} actions={selected} rows={pages.rows ?? []} />
    </>
  );
}

/** Which request the rows are of, and the way to all of them. */
function OfRequest({ id }: { id: string }) {
  return (
    <p className={style["lead"]}>
      {`${t("ofRequest")} `}
      <code>{id}</code>{" "}
      <Link to="." search={keepOrg}>
        {t("all")}
      </Link>
    </p>
  );
}

type Pages = ReturnType<typeof usePages>;

const filterOf = ({ foundIn }: Listed): string =>
  t(foundIn === undefined ? "filterBegin" : "filterContains");

/** Of rows that are all here, those that have what was typed in one of such texts, whatever the letter case. */
function found(pages: Pages, paths: Listed["foundIn"], q: string): Pages {
  if (paths === undefined || q === "") return pages;
  const typed = q.toLowerCase();
  const has = (row: JsonObject) =>
    paths.some((path) => textAt(row, path).toLowerCase().includes(typed));
  return {
    ...pages,
    rows: pages.rows?.filter(has),
    async *all(asked?: JsonObject) {
      for await (const page of pages.all(asked)) yield page.filter(has);
    },
  };
}

/** What the address may say that a list is filtered by. */
function filtersOf({
  hasNoFilter,
  states,
  isByPerson,
  isByPeriod,
  isByRequest,
}: Listed): FilteredBy {
  return [
    ...(hasNoFilter === true ? [] : (["q"] as const)),
    ...(states === undefined ? [] : (["state"] as const)),
    ...(isByPerson === true ? (["person"] as const) : []),
    ...(isByPeriod === true ? (["from", "to"] as const) : []),
    ...(isByRequest === true ? (["request", "near"] as const) : []),
  ];
}

/** What a row of a list is called. */
const nameIn =
  ({ name, columns: [first], search }: Listed, names: Names) =>
  (row: JsonObject): string => {
    if (name !== undefined) return name(row, (kind, id) => names[kind].get(id)?.name ?? id);
    const message = listOf(search.method.output)?.message;
    return first === undefined ? "" : rowName(message, row, first, names);
  };

/** The columns of a list, and what may be done with each row. */
function useListColumns(
  listed: Listed,
  rows: readonly JsonObject[],
  on: {
    place: Place | undefined;
    page: JsonObject;
    names: Names;
    reload: () => Promise<readonly JsonObject[]>;
  },
): Column<JsonObject>[] {
  const { columns, opens, actions, search } = listed;
  const shown = useColumns(listOf(search.method.output)?.message, rows, columns, opens);
  if (actions === undefined) return shown;
  const { place, page, reload } = on;
  const nameOf = nameIn(listed, on.names);
  const acts = (row: JsonObject) => (
    <Actions
      {...{ actions, place, name: nameOf(row) }}
      subject={{ object: row, page }}
      reload={async () => (await reload()).find((each) => keyOfRow(each) === keyOfRow(row))}
    />
  );
  return [...shown, { title: t("actions"), show: acts }];
}
