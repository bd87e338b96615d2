import { useQuery } from "@connectrpc/connect-query";
import { Link, Outlet, useMatches, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { signOut } from "../calls.ts";
import { nameOf } from "../pages/user-words.ts";
import { Waiting } from "../parts/waiting.tsx";
import { useRights } from "../rights.ts";
import { product, t } from "../told.ts";
import { areas } from "./areas.ts";
import style from "./shell.module.css";

// Loaded when it is first opened.
const Search = lazy(async () => ({ default: (await import("./search.tsx")).Search }));

/** What is around each page: the areas that the reader has a use for, where they are, the search, and who they are. */
export function Shell() {
  return (
    <Suspense fallback={<Waiting />}>
      <Frame />
    </Suspense>
  );
}

function Frame() {
  const { me, may } = useRights();
  const { org } = useSearch({ strict: false });
  const [isSearching, setSearching] = useState(false);
  useTitle();
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setSearching(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  const shown = areas.filter(({ method }) => may(method));
  return (
    <div className={style["frame"]}>
      <a className="skip" href="#main">
        {t("skip")}
      </a>
      <header className={style["top"]}>
        <span className={style["product"]}>{product}</span>
        <Context org={org} />
        <button type="button" className={style["open"]} onClick={() => setSearching(true)}>
          {t("search")} <kbd>Ctrl K</kbd>
        </button>
        <Me id={me.userId} />
      </header>
      <nav className={style["rail"]} aria-label={t("areas")}>
        {shown.map(({ name, to }) => (
          <Link
            key={name}
            to={to}
            search={org === undefined ? {} : { org }}
            activeOptions={{ includeSearch: false }}
          >
            {t(name)}
          </Link>
        ))}
      </nav>
      <main id="main" tabIndex={-1} className={style["main"]}>
        <Outlet />
      </main>
      {isSearching && (
        <Suspense>
          <Search onClose={() => setSearching(false)} areas={shown} org={org} />
        </Suspense>
      )}
    </div>
  );
}

/** The tab of the browser says which page it is. */
function useTitle() {
  const path = useMatches().at(-1)?.pathname ?? "";
  useEffect(() => {
    const area = areas.find(({ to }) => path.startsWith(to));
    document.title = [...(area ? [t(area.name)] : []), t("title"), product].join(" · ");
  }, [path]);
}

/** The organization that is worked in, and the way back to all of the instance. */
function Context({ org }: { org: string | undefined }) {
  const { data } = useQuery(
    OrganizationService.method.getOrganization,
    { id: org ?? "" },
    { enabled: org !== undefined },
  );
  if (org === undefined) return <span className={style["context"]}>{t("everything")}</span>;
  return (
    <span className={style["context"]}>
      {data?.organization?.organization?.name ?? org}{" "}
      <Link
        to="."
        search={(before: object) => {
          const { org: _, ...rest } = before as { org?: string };
          return rest;
        }}
      >
        {t("everything")}
      </Link>
    </span>
  );
}

function Me({ id }: { id: string }) {
  const { data } = useQuery(UserService.method.getUser, { id });
  const user = data?.user?.user;
  return (
    <span className={style["me"]}>
      <a href="/ui/account">{nameOf(user) || user?.username || t("account")}</a>
      <button type="button" onClick={() => void signOut()}>
        {t("signOut")}
      </button>
    </span>
  );
}
