import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { messageOf, refusalOf } from "../calls.ts";
import type { Shown } from "../declared/declare.ts";
import { t } from "../told.ts";
import { download, textOf } from "./csv.ts";
import { notify } from "./notice.ts";
import style from "./objects.module.css";
import { wordOf } from "./value.tsx";

/** Keeps all of a list as a file, page by page as it is read. */
export function ExportButton({
  word,
  columns,
  message,
  all,
}: {
  word: string;
  columns: readonly Shown[];
  message: DescMessage | undefined;
  all: () => AsyncIterable<readonly JsonObject[]>;
}) {
  const [count, setCount] = useState<number>();
  async function run(): Promise<void> {
    const rows: string[][] = [columns.map((column) => wordOf(column))];
    setCount(0);
    try {
      for await (const page of all()) {
        rows.push(...page.map((row) => columns.map((column) => textOf(message, row, column))));
        setCount(rows.length - 1);
      }
      download(`${t(word)}.csv`, rows);
      notify(`${t("done")}: ${t("exportCsv")} (${rows.length - 1})`);
    } catch (refused) {
      notify(messageOf(refusalOf(refused)));
    } finally {
      setCount(undefined);
    }
  }
  return (
    <button
      type="button"
      className={style["action"]}
      disabled={count !== undefined}
      onClick={() => void run()}
    >
      {count === undefined ? t("exportCsv") : `${t("exportCsv")}: ${count}`}
    </button>
  );
}
