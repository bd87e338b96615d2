import type { JsonObject } from "@bufbuild/protobuf";
import type { Action, Outcome, Shown } from "../declared/declare.ts";
import { fieldAt, keyOfRow, objectsAt } from "../declared/schema.ts";
import { useNames } from "../objects/names.ts";
import { useColumns } from "../objects/rows.tsx";
import { valueOf, wordOf } from "../objects/value.tsx";
import { List } from "../parts/list.tsx";
import style from "./forms.module.css";

type Answered = { action: Action; answer: JsonObject };

/** How an action came out: values, and lists of objects. */
export function Outcomes({
  action,
  answer,
  outcomes,
}: Answered & { outcomes: readonly Outcome[] }) {
  const values = outcomes.filter(({ columns }) => columns === undefined);
  const names = useNames([answer], values);
  return (
    <>
      {values.length > 0 && (
        <dl className={style["outcome"]}>
          {values.map((each) => (
            <div key={each.path}>
              <dt>{wordOf(each)}</dt>
              <dd>{valueOf(action.method.output, answer, each, names)}</dd>
            </div>
          ))}
        </dl>
      )}
      {outcomes.map(
        (each) =>
          each.columns !== undefined && (
            <OutcomeList
              key={each.path}
              {...{ action, answer }}
              outcome={each}
              columns={each.columns}
            />
          ),
      )}
    </>
  );
}

function OutcomeList({
  action,
  answer,
  outcome,
  columns,
}: Answered & { outcome: Outcome; columns: readonly Shown[] }) {
  const rows = objectsAt(answer, outcome.path);
  const shown = useColumns(
    fieldAt(action.method.output, outcome.path)?.message,
    rows,
    columns,
    undefined,
  );
  return (
    <>
      <h3>{wordOf(outcome)}</h3>
      <List
        label={wordOf(outcome)}
        pages={{ rows, error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} }}
        columns={shown}
        keyOf={keyOfRow}
      />
    </>
  );
}
