import type { JsonObject } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { firstSteps } from "../declared/home.ts";
import { useAnswer } from "../json-calls.ts";
import { type PageRoute, pages } from "../routes.ts";
import { useRights } from "../rights.ts";
import { t } from "../told.ts";
import style from "./objects.module.css";

/** The first rows of lists, each loaded with what it is declared by. */
const recentLists = new Map(
  pages
    .filter(({ path }) => path === "/refusals" || path === "/events")
    .map((page) => [page, lazy(async () => ({ default: await rowsOf(page) }))] as const),
);

async function rowsOf(page: PageRoute): Promise<() => ReactNode> {
  if (page.shows !== "list") return () => null;
  const [{ FirstRows }, listed] = await Promise.all([import("./first-rows.tsx"), page.load()]);
  return () => <FirstRows word={page.word} listed={listed} />;
}

/** What is next and what happened: the first steps of an instance, refused attempts, and recent changes. */
export function Home() {
  const { reach } = useRights();
  return (
    <>
      <h1>{t("home")}</h1>
      <Steps />
      {[...recentLists].map(([page, Rows]) =>
        reach(page, undefined) === undefined ? null : (
          <section key={page.path} className={style["rows"]}>
            <h2>
              <Link to={page.path}>{t(page.word)}</Link>
            </h2>
            <Suspense>
              <Rows />
            </Suspense>
          </section>
        ),
      )}
    </>
  );
}

/** The first five steps, each with whether it was taken: those that the reader may take. */
function Steps() {
  const { me, may } = useRights();
  const shown = firstSteps.filter(({ method }) => may(method, { isInstance: true }) || may(method));
  return (
    <section className={style["rows"]}>
      <h2>{t("firstSteps")}</h2>
      <ol className={style["steps"]}>
        {shown.map((step) => (
          <Step key={step.word} step={step} request={step.request(me.userId)} />
        ))}
      </ol>
    </section>
  );
}

function Step({ step, request }: { step: (typeof firstSteps)[number]; request: JsonObject }) {
  const { word, to, method, isTaken } = step;
  const { data } = useAnswer(method, request);
  const isDone = data !== undefined && isTaken(data);
  return (
    <li>
      {to.startsWith("/ui/") ? <a href={to}>{t(word)}</a> : <Link to={to}>{t(word)}</Link>}{" "}
      {isDone && <span className={style["taken"]}>{t("done")}</span>}
    </li>
  );
}
