import type { JsonObject } from "@bufbuild/protobuf";
import type { Action, Shown, Told } from "../declared/declare.ts";
import { fieldAt, keyOfRow, objectsAt } from "../declared/schema.ts";
import { useColumns } from "../objects/rows.tsx";
import { wordOf } from "../objects/value.tsx";
import { List } from "../parts/list.tsx";

/** A list of objects that an answer tells. */
export function ToldList({
  action,
  answer,
  told,
  columns,
}: {
  action: Action;
  answer: JsonObject;
  told: Told;
  columns: readonly Shown[];
}) {
  const rows = objectsAt(answer, told.path);
  const shown = useColumns(
    fieldAt(action.method.output, told.path)?.message,
    rows,
    columns,
    undefined,
  );
  return (
    <>
      <h3>{wordOf(told)}</h3>
      <List
        label={wordOf(told)}
        pages={{ rows, error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} }}
        columns={shown}
        keyOf={keyOfRow}
      />
    </>
  );
}
