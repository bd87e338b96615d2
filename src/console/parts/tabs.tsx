import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import style from "./parts.module.css";

/** Links to pages that stand side by side: where they have no room, in one row that scrolls, at the one that is open. */
export function Tabs({
  label,
  current,
  children,
}: {
  label: string;
  /** Which is open. */
  current: string;
  children: ReactNode;
}) {
  const row = useRef<HTMLElement>(null);
  const router = useRouter();
  useEffect(() => {
    const place = () => {
      const open = row.current?.querySelector<HTMLElement>("[aria-current]");
      if (row.current === null || open === null || open === undefined) return;
      // The row alone is moved, never the page.
      row.current.scrollLeft = open.offsetLeft - (row.current.clientWidth - open.offsetWidth) / 2;
    };
    place();
    // The router gives what stands at the same place of a page the scroll position that it had on the page before.
    return router.subscribe("onRendered", place);
  }, [current, router]);
  return (
    <nav ref={row} className={style["tabs"]} aria-label={label}>
      {children}
    </nav>
  );
}
