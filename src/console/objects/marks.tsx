import type { JsonObject } from "@bufbuild/protobuf";
import { lazy, Suspense, useState, useSyncExternalStore } from "react";
import { type Action, textAt } from "../declared/declare.ts";
import { t } from "../page-data.ts";

// Loaded when somebody first marks a row.
const Selection = lazy(async () => ({ default: (await import("./selection.tsx")).Selection }));

/** The rows of a list that are marked. They are no state of the list, so that a box that is marked draws nothing but itself. */
export type Marks = {
  ids: () => ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
  subscribe: (listener: () => void) => () => void;
};

export function createMarks(): Marks {
  let ids: ReadonlySet<string> = new Set();
  const listeners = new Set<() => void>();
  return {
    ids: () => ids,
    set(next) {
      ids = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const idOf = (row: JsonObject): string => textAt(row, "details.id");

/** The box that marks a row. */
export function Mark({ marks, row, name }: { marks: Marks; row: JsonObject; name: string }) {
  const id = idOf(row);
  const isMarked = useSyncExternalStore(marks.subscribe, () => marks.ids().has(id));
  return (
    <input
      type="checkbox"
      aria-label={`${t("mark")}: ${name}`}
      checked={isMarked}
      onChange={({ target }) => {
        const next = new Set(marks.ids());
        if (target.checked) next.add(id);
        else next.delete(id);
        marks.set(next);
      }}
    />
  );
}

/** What may be done with the rows that are marked, where there are any. */
export function Marked({
  marks,
  rows,
  ...more
}: {
  marks: Marks;
  rows: readonly JsonObject[];
  actions: readonly Action[];
  nameOf: (row: JsonObject) => string;
}) {
  const ids = useSyncExternalStore(marks.subscribe, marks.ids);
  const [isActing, setActing] = useState(false);
  const marked = rows.filter((row) => ids.has(idOf(row)));
  if (marked.length === 0 && !isActing) return null;
  return (
    <Suspense>
      <Selection {...more} rows={marked} acting={setActing} end={() => marks.set(new Set())} />
    </Suspense>
  );
}
