import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { Shown } from "../declared/declare.ts";
import { t } from "../page-data.ts";
import { download, textOf } from "./csv.ts";
import { KeepButton } from "./keep-button.tsx";
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
  async function run(tell: (count: number) => void): Promise<number> {
    const rows: string[][] = [];
    for await (const page of all()) {
      rows.push(...page.map((row) => columns.map((column) => textOf(message, row, column))));
      tell(rows.length);
    }
    download(`${t(word)}.csv`, [columns.map((column) => wordOf(column)), ...rows]);
    return rows.length;
  }
  return <KeepButton name={t("exportCsv")} work={run} />;
}
