import { Link } from "@tanstack/react-router";
import { keepOrg } from "../parts/keep-org.ts";
import style from "../parts/parts.module.css";
import { useRights } from "../rights.ts";
import { pages, type PageRoute } from "../routes.ts";
import { t } from "../told.ts";

/** The pages of the area that the reader has a use for. */
export function Siblings({ route: { area, path } }: { route: PageRoute }) {
  const { may } = useRights();
  const shown = pages.filter((each) => each.area === area && may(each.method));
  if (shown.length < 2) return null;
  return (
    <nav className={style["tabs"]} aria-label={t(area)}>
      {shown.map(({ path: to, word }) => (
        <Link
          key={to}
          to={to}
          search={keepOrg}
          aria-current={to === path ? "page" : undefined}
          activeProps={{}}
        >
          {t(word)}
        </Link>
      ))}
    </nav>
  );
}
