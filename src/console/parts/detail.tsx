import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { t } from "../page-data.ts";
import style from "./parts.module.css";
import { Tabs } from "./tabs.tsx";

/** A page of an object: what it is called, and its tabs, of which the address says which is open. */
export function Detail({
  title,
  back,
  tabs,
  tab,
  children,
}: {
  title: string;
  back: ReactNode;
  tabs: readonly string[];
  tab: string;
  children: ReactNode;
}) {
  return (
    <>
      <p className={style["back"]}>{back}</p>
      <h1>{title}</h1>
      <Tabs label={title} current={tab}>
        {tabs.map((each) => (
          <Link
            key={each}
            to="."
            activeOptions={{ exact: true }}
            search={(before: object) => {
              const { tab: _, ...rest } = before as { tab?: string };
              return each === "overview" ? rest : { ...rest, tab: each };
            }}
            activeProps={{}}
            aria-current={each === tab ? "page" : undefined}
          >
            {t(each)}
          </Link>
        ))}
      </Tabs>
      {children}
    </>
  );
}

/** Names and what they stand for; what is empty is left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  const shown = facts.filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return (
    <dl className={style["facts"]}>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
