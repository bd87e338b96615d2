import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { type Search, textAt } from "../declared/declare.ts";
import { usePages } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { Time } from "../parts/time.tsx";
import { t } from "../page-data.ts";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { textOf, valueOf } from "./value.tsx";
import { hasWritten, isChange, type Written, writtenBy } from "./written.ts";

const editor = { path: "editor.user_id", as: "person" } as const;
const client = { path: "editor.client_id", as: "code" } as const;
const request = { path: "editor.request_id", as: "request" } as const;

/** What happened, in words: the newest first, who did it, by which request, which fields were written and what stood in them before. */
export function History({ search, object }: { search: Search; object: JsonObject }) {
  const pages = usePages(search.method, search.request(object), { isDescending: true });
  const events = pages.rows ?? [];
  const names = useNames(events, [editor]);
  const written = (event: JsonObject) => () =>
    writtenBy(event, events.slice(events.indexOf(event) + 1), !pages.hasMore);
  return (
    <List
      label={t("history")}
      pages={pages}
      keyOf={(event) => textAt(event, "sequence")}
      columns={[
        {
          title: t("what"),
          isMain: true,
          show: (event) => <What event={event} written={written(event)} />,
        },
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

/** What happened, and, where it is opened, which fields were written and what stood there before. */
function What({ event, written }: { event: JsonObject; written: () => readonly Written[] }) {
  const [isOpen, setOpen] = useState(false);
  const type = textAt(event, "type");
  const text = textAt(event, "localized_message") || type;
  if (!hasWritten(event)) return <span title={type}>{text}</span>;
  const hasBefore = isChange(event);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary title={type}>{text}</summary>
      <dl className={style["written"]}>
        {(isOpen ? written() : []).map(({ field, before, after, isOlder }) => (
          <div key={field}>
            <dt>
              <code>{field}</code>
            </dt>
            {hasBefore && (
              <dd>
                <span>{t("before")}</span> {isOlder ? "…" : textOf(before)}
              </dd>
            )}
            <dd>
              {hasBefore && <span>{t("after")}</span>} {textOf(after)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
