import type { JsonObject } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import { firstSteps } from "../declared/home.ts";
import { useAnswer } from "../json-calls.ts";
import { useOrg, useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import { Health } from "./health.tsx";
import { LogIns } from "./log-ins.tsx";
import style from "./objects.module.css";
import { pageRows, RowsOfPage } from "./page-rows.tsx";

const recent = ["/refusals", "/events"].map(pageRows);

/** What is next, what needs somebody and what happened: first steps, health, log-ins, refused attempts, and recent changes. */
export function Home() {
  const org = useOrg();
  return (
    <>
      <h1>{t("home")}</h1>
      <Steps />
      <Health />
      <LogIns org={org} />
      {recent.map((each) => (
        <RowsOfPage key={each.page.path} of={each} org={org} />
      ))}
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
