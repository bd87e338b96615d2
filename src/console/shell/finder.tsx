import { lazy, Suspense, useEffect, useId, useState } from "react";
import { t } from "../page-data.ts";
import type { PageRoute } from "../routes.ts";
import style from "./shell.module.css";

// Loaded when it is first opened.
const Search = lazy(async () => ({ default: (await import("./search.tsx")).Search }));

/** The button that opens the search, as Ctrl-K does, and the search once it is open. */
export function Finder({
  pages,
  org,
}: {
  pages: readonly { page: PageRoute; search: object }[];
  org: string | undefined;
}) {
  const box = useId();
  /** What is looked for; undefined while the search is closed. */
  const [typed, setTyped] = useState<string>();
  const isOpen = typed !== undefined;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const hasModifier = event.ctrlKey || event.metaKey;
      if (hasModifier && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setTyped((before) => before ?? "");
        return;
      }
      // Until its file is loaded and its field has the focus, what is typed is kept for it.
      const isEarly = isOpen && document.activeElement?.id !== box;
      if (!isEarly || hasModifier || event.altKey || event.key.length !== 1) return;
      event.preventDefault();
      setTyped((before = "") => before + event.key);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOpen, box]);
  return (
    <>
      <button type="button" className={style["open"]} onClick={() => setTyped("")}>
        {t("search")} <kbd>Ctrl K</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <Search {...{ box, typed, setTyped, pages, org }} onClose={() => setTyped(undefined)} />
        </Suspense>
      )}
    </>
  );
}
