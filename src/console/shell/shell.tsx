import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { messageOf, refusalOf, signOut } from "../calls.ts";
import { at } from "../declared/declare.ts";
import { userName } from "../declared/user-name.ts";
import { useAnswer } from "../json-calls.ts";
import { forgetElsewhere, notify, pageNow, useNotice } from "../objects/notice.ts";
import { Waiting } from "../parts/waiting.tsx";
import { ForReader, useOrg, useRights } from "../rights.ts";
import { areas, pages } from "../routes.ts";
import { product, t, zone } from "../page-data.ts";
import { Context } from "./context.tsx";
import { Finder } from "./finder.tsx";
import { usePage } from "./use-page.ts";
import style from "./shell.module.css";

/** What is around each page: the areas that the reader has a use for, where they are, the search, and who they are. */
export function Shell() {
  return (
    <Suspense fallback={<Waiting />}>
      <ForReader>
        <Frame />
      </ForReader>
    </Suspense>
  );
}

function Frame() {
  const { me, reach } = useRights();
  const org = useOrg();
  useTitle();
  const usable = pages.flatMap((page) => {
    const search = reach(page, org);
    return search === undefined ? [] : [{ page, search }];
  });
  const current = usePage()?.area;
  const shown = areas.flatMap((area) => usable.find(({ page }) => page.area === area) ?? []);
  return (
    <div className={style["frame"]}>
      <a className="skip" href="#main">
        {t("skip")}
      </a>
      <header className={style["top"]}>
        <span className={style["product"]}>{product}</span>
        {/* Who administers nothing has nowhere to go. */}
        {usable.length > 0 && <Context org={org} />}
        <Finder pages={usable} org={org} />
        <Me id={me.userId} />
      </header>
      <nav className={style["rail"]} aria-label={t("areas")}>
        <Link
          to="/"
          search={org === undefined ? {} : { org }}
          activeProps={{}}
          aria-current={current === undefined ? "page" : undefined}
        >
          {t("home")}
        </Link>
        {shown.map(({ page: { area, path }, search }) => (
          <Link
            key={area}
            to={path}
            search={search}
            activeProps={{}}
            aria-current={area === current ? "page" : undefined}
          >
            {t(area)}
          </Link>
        ))}
      </nav>
      <Notice />
      <main id="main" tabIndex={-1} className={style["main"]}>
        <Outlet />
        <p className={style["zone"]}>{`${t("zoneIs")} ${zone}`}</p>
      </main>
    </div>
  );
}

/** What was done last on this page, and the way to take it back: it goes when the reader goes on to another page. */
function Notice() {
  useLocation();
  const { text, takeBack } = useNotice();
  const page = pageNow();
  useEffect(forgetElsewhere, [page]);
  const undo = async () => {
    const told = await takeBack?.().then(
      () => `${t("done")}: ${t("undo")}`,
      (refused: unknown) => messageOf(refusalOf(refused)),
    );
    if (told !== undefined && page === pageNow()) notify(told);
  };
  return (
    <div className={style["notice"]}>
      <p role="status">{text}</p>
      {takeBack !== undefined && (
        <button type="button" className={style["plain"]} onClick={() => void undo()}>
          {t("undo")}
        </button>
      )}
    </div>
  );
}

/** The tab of the browser says which page it is. */
function useTitle() {
  const word = usePage()?.word;
  useEffect(() => {
    document.title = [...(word === undefined ? [] : [t(word)]), t("title"), product].join(" · ");
  }, [word]);
}

function Me({ id }: { id: string }) {
  const { data } = useAnswer(UserService.method.getUser, { id });
  return (
    <span className={style["me"]}>
      <a href="/ui/account">{userName(at(data, "user")) || t("account")}</a>
      <button type="button" className={style["plain"]} onClick={() => void signOut()}>
        {t("signOut")}
      </button>
    </span>
  );
}
