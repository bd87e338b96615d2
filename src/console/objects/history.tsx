import type { JsonObject } from "@bufbuild/protobuf";
import { at, type Search, textAt } from "../declared/declare.ts";
import { usePages } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { Time } from "../parts/time.tsx";
import { t } from "../told.ts";
import { useNames } from "./names.ts";
import { valueOf } from "./value.tsx";

const editor = { path: "editor.user_id", as: "person" } as const;
const client = { path: "editor.client_id", as: "code" } as const;
const request = { path: "editor.request_id", as: "code" } as const;

/** What happened, in words: the newest first, who did it, by which request, and what was written. */
export function History({ search, object }: { search: Search; object: JsonObject }) {
  const pages = usePages(search.method, search.request(object), { isDescending: true });
  const names = useNames(pages.rows ?? [], [editor]);
  return (
    <List
      label={t("history")}
      pages={pages}
      keyOf={(event) => textAt(event, "sequence")}
      columns={[
        { title: t("what"), isMain: true, show: (event) => <What event={event} /> },
        { title: t("when"), show: (event) => <Time at={textAt(event, "creation_date")} /> },
        { title: t("who"), show: (event) => valueOf(undefined, event, editor, names) },
        {
          title: t("field_client_id"),
          show: (event) => valueOf(undefined, event, client, names),
        },
        {
          title: t("request"),
          show: (event) => valueOf(undefined, event, request, names),
        },
      ]}
    />
  );
}

function What({ event }: { event: JsonObject }) {
  const type = textAt(event, "type");
  const payload = at(event, "payload");
  const text = textAt(event, "localized_message") || type;
  if (payload === undefined || payload === null || JSON.stringify(payload) === "{}") {
    return <span title={type}>{text}</span>;
  }
  return (
    <details>
      <summary title={type}>{text}</summary>
      <pre tabIndex={0}>{JSON.stringify(payload, undefined, 2)}</pre>
    </details>
  );
}
