import type { Listed, ListTyped } from "../declared/declare.ts";
import { keyOfRow, listOf } from "../declared/schema.ts";
import { usePages } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { language, t } from "../page-data.ts";
import { useColumns } from "./rows.tsx";

const most = 5;

/** The first rows of a list. */
export function FirstRows({
  word,
  listed,
  org,
  isHuman,
}: {
  word: string;
  listed: Listed;
} & Pick<ListTyped, "org" | "isHuman">) {
  const { method, request, isDescending = false } = listed.search;
  const pages = usePages(
    method,
    request({ q: "", org, state: "", language, ...(isHuman && { isHuman }) }),
    {
      isDescending,
      pageSize: most,
    },
  );
  const columns = useColumns(
    listOf(method.output)?.message,
    pages.rows ?? [],
    listed.columns,
    listed.opens,
  );
  return (
    <List label={t(word)} pages={{ ...pages, hasMore: false }} keyOf={keyOfRow} columns={columns} />
  );
}
