import { useMatches } from "@tanstack/react-router";
import { type PageRoute, pages } from "../routes.ts";

/** The page, or the list that its object stands in. */
export function usePage(): PageRoute | undefined {
  const path = useMatches().at(-1)?.pathname ?? "";
  return pages.find((each) => path === each.path || path.startsWith(`${each.path}/`));
}
