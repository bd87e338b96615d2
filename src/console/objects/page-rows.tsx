import { Link } from "@tanstack/react-router";
import { lazy, type LazyExoticComponent, type ReactNode, Suspense } from "react";
import type { ListTyped } from "../declared/declare.ts";
import { Waiting } from "../parts/waiting.tsx";
import { type PageRoute, pages } from "../routes.ts";
import { useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import style from "./objects.module.css";

type Rows = LazyExoticComponent<(props: { org: string | undefined }) => ReactNode>;

/** The first rows of the list of a page, loaded with what it is declared by. */
export type PageRows = { page: PageRoute; Rows: Rows };

/**
 * @param typed what the list is filtered by
 * @throws Error where no list is at the path
 */
export function pageRows(path: string, typed: Pick<ListTyped, "isHuman"> = {}): PageRows {
  const page = pages.find((each) => each.path === path);
  if (page?.shows !== "list") throw new Error(`no list is at ${path}`);
  const load = async () => {
    const [{ FirstRows }, listed] = await Promise.all([import("./first-rows.tsx"), page.load()]);
    return {
      default: ({ org }: { org: string | undefined }) => (
        <FirstRows {...{ listed, org, ...typed }} word={page.word} />
      ),
    };
  };
  return { page, Rows: lazy(load) };
}

/** The first rows of a list that the reader has a use for, below the way to all of it. */
export function RowsOfPage({
  of: { page, Rows },
  org,
}: {
  of: PageRows;
  org?: string | undefined;
}) {
  const { reach } = useRights();
  const search = reach(page, org);
  if (search === undefined) return null;
  return (
    <section className={style["rows"]}>
      <h2>
        <Link to={page.path} search={search}>
          {t(page.word)}
        </Link>
      </h2>
      <Suspense fallback={<Waiting />}>
        <Rows org={search.org} />
      </Suspense>
    </section>
  );
}
