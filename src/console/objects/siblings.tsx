import { Link } from "@tanstack/react-router";
import { Tabs } from "../parts/tabs.tsx";
import { useOrg, useRights } from "../rights.ts";
import { pages, type PageRoute } from "../routes.ts";
import { t } from "../page-data.ts";

/** The pages of the area that the reader has a use for. */
export function Siblings({ route: { area, path } }: { route: PageRoute }) {
  const { reach } = useRights();
  const org = useOrg();
  const shown = pages.flatMap((page) => {
    const search = page.area === area ? reach(page, org) : undefined;
    return search === undefined ? [] : [{ ...page, search }];
  });
  if (shown.length < 2) return null;
  return (
    <Tabs label={t(area)} current={path}>
      {shown.map(({ path: to, word, search }) => (
        <Link
          key={to}
          to={to}
          search={search}
          aria-current={to === path ? "page" : undefined}
          activeProps={{}}
        >
          {t(word)}
        </Link>
      ))}
    </Tabs>
  );
}
