import { lazy, Suspense } from "react";
import { t } from "../page-data.ts";
import { useInAddress } from "./filters.tsx";
import style from "./parts.module.css";

// Few lists are filtered by it.
const Picker = lazy(async () => ({ default: (await import("../forms/picker.tsx")).Picker }));

const field = { path: "person", word: "person" };

/** A filter by a person, whom it finds by what names them: their ID is in the address. */
export function PersonFilter({ person }: { person: string }) {
  const put = useInAddress();
  return (
    <div className={style["filter"]}>
      <Suspense fallback={<span aria-busy>{t("person")}</span>}>
        <Picker
          kind="person"
          {...{ field, value: person, isRequired: false, error: undefined }}
          set={(value) => put("person", typeof value === "string" ? value : "")}
        />
      </Suspense>
    </div>
  );
}
