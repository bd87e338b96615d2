import type { JsonObject } from "@bufbuild/protobuf";
import { Link, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Listed, textAt } from "../declared/declare.ts";
import { keyOfRow, listOf } from "../declared/schema.ts";
import { usePages } from "../json-calls.ts";
import { ChoiceFilter, Filter, LanguageFilter } from "../parts/filters.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { type Column, List } from "../parts/list.tsx";
import { useOrg, useRights } from "../rights.ts";
import type { Place } from "../rights-of.ts";
import type { PageRoute, PageSearch } from "../routes.ts";
import { language as ownLanguage, t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { ExportButton } from "./export-button.tsx";
import style from "./objects.module.css";
import { useColumns } from "./rows.tsx";
import { Siblings } from "./siblings.tsx";
import { useWatch } from "./watch.ts";

// Loaded when somebody first marks a row.
const Selection = lazy(async () => ({ default: (await import("./selection.tsx")).Selection }));

const pollMs = 5_000;
/** Whoever has read on is not called back to the beginning. */
const mostPolled = 50;

/** The list of all objects of a kind, as its declaration says, with what may be made there. */
export function ListPage({ route, listed }: { route: PageRoute; listed: Listed }) {
  const search: PageSearch = useSearch({ strict: false });
  const { q = "", state = "", language = ownLanguage, request: ofRequest, near } = search;
  const org = useOrg();
  const { method, request, isDescending = false } = listed.search;
  const pages = usePages(method, request({ q, org, state, language, request: ofRequest, near }), {
    isDescending,
    ...(listed.isPolled && { again: (rows) => (rows.length <= mostPolled ? pollMs : false) }),
  });
  const message = listOf(method.output)?.message;
  const ofInstance = listed.isOfInstance === true ? ({ isInstance: true } as const) : undefined;
  const place = org === undefined ? ofInstance : { organizationId: org, isWithin: true as const };
  const { me } = useRights();
  const page = { instance: me.instanceId, ...(org === undefined ? {} : { org }) };
  const watched = {
    types: listed.watches,
    calls: pages.loaded,
    ...(org === undefined ? {} : { org }),
  };
  // What cannot be read anew stays as it was read.
  useWatch(watched, () => void pages.reload().catch(() => undefined));
  const columns = useListColumns(listed, pages.rows ?? [], { place, page, reload: pages.reload });
  const marking = useMarks(listed, pages.rows ?? []);
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      {listed.addWord !== undefined && <p className={style["lead"]}>{t(listed.addWord)}</p>}
      {listed.add !== undefined && (
        <Actions actions={listed.add} subject={{ object: page, page }} name="" place={place} />
      )}
      {listed.isByRequest === true && ofRequest !== undefined && (
        <p className={style["lead"]}>
          {`${t("ofRequest")} `}
          <code>{ofRequest}</code>{" "}
          <Link to="." search={keepOrg}>
            {t("all")}
          </Link>
        </p>
      )}
      <div className={style["filters"]}>
        {listed.hasNoFilter !== true && <Filter key={org ?? ""} q={q} />}
        {listed.states !== undefined && (
          <ChoiceFilter
            {...{ name: "state", word: "state", chosen: state }}
            options={[["", t("all")], ...listed.states.map((each) => [each, t(each)] as const)]}
          />
        )}
        {listed.isByLanguage === true && <LanguageFilter chosen={language} />}
        <ExportButton word={route.word} columns={listed.columns} {...{ message, all: pages.all }} />
      </div>
      {(marking.marked.length > 0 || marking.isActing) && (
        <Suspense>
          <Selection
            actions={marking.actions}
            rows={marking.marked}
            nameOf={(row) => textAt(row, listed.columns[0]?.path ?? "")}
            acting={marking.setActing}
            end={marking.clear}
          />
        </Suspense>
      )}
      <List
        label={t(route.word)}
        pages={pages}
        keyOf={keyOfRow}
        columns={[...marking.columns, ...columns]}
        goesOn
      />
    </>
  );
}

/** The columns of a list, and what may be done with each row. */
function useListColumns(
  { columns, opens, actions, search }: Listed,
  rows: readonly JsonObject[],
  on: {
    place: Place | undefined;
    page: JsonObject;
    reload: () => Promise<readonly JsonObject[]>;
  },
): Column<JsonObject>[] {
  const shown = useColumns(listOf(search.method.output)?.message, rows, columns, opens);
  if (actions === undefined) return shown;
  const { place, page, reload } = on;
  const acts = (row: JsonObject) => (
    <Actions
      {...{ actions, place, name: textAt(row, columns[0]?.path ?? "") }}
      subject={{ object: row, page }}
      reload={async () => (await reload()).find((each) => keyOfRow(each) === keyOfRow(row))}
    />
  );
  return [...shown, { title: t("actions"), show: acts }];
}

/** Rows that are marked, by a box in each, where something may be done with several. */
function useMarks({ selected = [], columns }: Listed, rows: readonly JsonObject[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isActing, setActing] = useState(false);
  const { may } = useRights();
  const actions = selected.filter(({ method }) => may(method));
  const idOf = (row: JsonObject) => textAt(row, "details.id");
  const mark = (row: JsonObject) => (
    <input
      type="checkbox"
      aria-label={`${t("mark")}: ${textAt(row, columns[0]?.path ?? "")}`}
      checked={ids.has(idOf(row))}
      onChange={({ target }) => {
        const next = new Set(ids);
        if (target.checked) next.add(idOf(row));
        else next.delete(idOf(row));
        setIds(next);
      }}
    />
  );
  return {
    actions,
    isActing,
    setActing,
    marked: rows.filter((row) => ids.has(idOf(row))),
    clear: () => setIds(new Set()),
    columns: actions.length === 0 ? [] : [{ title: t("mark"), show: mark, isNarrow: true }],
  };
}
