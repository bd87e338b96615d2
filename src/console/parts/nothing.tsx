import { Link, useSearch } from "@tanstack/react-router";
import type { PageSearch } from "../routes.ts";
import { t } from "../page-data.ts";
import style from "./parts.module.css";

/** What the address says that a list is filtered by. */
export type FilteredBy = readonly (keyof PageSearch)[];

/** That a list has no rows: because nothing is there yet, or because of what it is filtered by, which can be taken back. */
export function Nothing({
  filters = [],
  hint,
}: {
  filters?: FilteredBy | undefined;
  /** The word for what would be here, where nothing is yet. */
  hint?: string | undefined;
}) {
  const search: PageSearch = useSearch({ strict: false });
  if (filters.some((name) => (search[name] ?? "") !== "")) {
    return (
      <p className={style["empty"]} role="status">
        {`${t("emptyFiltered")} `}
        <Link to="." search={withoutAny(filters)}>
          {t("removeFilter")}
        </Link>
      </p>
    );
  }
  return (
    <p className={style["empty"]}>
      <span>{t("empty")}</span>
      {hint !== undefined && (
        <>
          <br />
          <span>{t(hint)}</span>
        </>
      )}
    </p>
  );
}

const withoutAny =
  (filters: FilteredBy) =>
  (search: PageSearch): PageSearch =>
    Object.fromEntries(
      Object.entries(search).filter(([name]) => !filters.some((each) => each === name)),
    );
