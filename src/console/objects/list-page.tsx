import type { JsonObject } from "@bufbuild/protobuf";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Listed, textAt } from "../declared/declare.ts";
import { listOf } from "../declared/schema.ts";
import { usePages } from "../json-calls.ts";
import { Filter, List } from "../parts/list.tsx";
import { useRights } from "../rights.ts";
import type { PageRoute, PageSearch } from "../routes.ts";
import { t } from "../told.ts";
import { Actions } from "./actions.tsx";
import style from "./objects.module.css";
import { useColumns } from "./rows.tsx";
import { Siblings } from "./siblings.tsx";

/** The list of all objects of a kind, as its declaration says, with what may be made there. */
export function ListPage({ route, listed }: { route: PageRoute; listed: Listed }) {
  const { q = "", org, state = "" }: PageSearch = useSearch({ strict: false });
  const { method, request, isDescending = false } = listed.search;
  const pages = usePages(method, request({ q, org, state }), { isDescending });
  const message = listOf(method.output)?.message;
  const columns = useColumns(message, pages.rows ?? [], listed.columns, listed.opens);
  const ofInstance = listed.isOfInstance === true ? ({ isInstance: true } as const) : undefined;
  const place = org === undefined ? ofInstance : { organizationId: org };
  const { me } = useRights();
  const page = { instance: me.instanceId, ...(org === undefined ? {} : { org }) };
  const nameOf = (row: JsonObject) => textAt(row, listed.columns[0]?.path ?? "");
  const { actions } = listed;
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      {listed.addWord !== undefined && <p className={style["lead"]}>{t(listed.addWord)}</p>}
      {listed.add !== undefined && (
        <Actions actions={listed.add} subject={{ object: page, page }} name="" place={place} />
      )}
      <div className={style["filters"]}>
        {listed.hasNoFilter !== true && <Filter key={org ?? ""} q={q} />}
        {listed.states !== undefined && <States states={listed.states} chosen={state} />}
      </div>
      <List
        label={t(route.word)}
        pages={pages}
        keyOf={(row) => JSON.stringify(row)}
        columns={
          actions === undefined
            ? columns
            : [
                ...columns,
                {
                  title: t("actions"),
                  show: (row) => (
                    <Actions
                      {...{ actions, place, name: nameOf(row) }}
                      subject={{ object: row, page }}
                    />
                  ),
                },
              ]
        }
      />
    </>
  );
}

/** A filter by state, which stands in the address. */
function States({ states, chosen }: { states: readonly string[]; chosen: string }) {
  const navigate = useNavigate();
  const choose = (state: string) => {
    const search = (before: object) => {
      const { state: _, ...rest } = before as { state?: string };
      return state === "" ? rest : { ...rest, state };
    };
    void navigate({ to: ".", search, replace: true });
  };
  return (
    <label className={style["filter"]}>
      <span>{t("state")}</span>
      <select value={chosen} onChange={({ target }) => choose(target.value)}>
        <option value="">{t("all")}</option>
        {states.map((each) => (
          <option key={each} value={each}>
            {t(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
