import { Link } from "@tanstack/react-router";
import { useOrg } from "../rights.ts";
import { t } from "../page-data.ts";
import { Health } from "./health.tsx";
import { LogIns } from "./log-ins.tsx";
import style from "./objects.module.css";
import { pageRows, RowsOfPage } from "./page-rows.tsx";
import { Steps, useSteps } from "./steps.tsx";

const recent = ["/refusals", "/events"].map(pageRows);

/** What is next, what needs somebody and what happened: first steps that are open, health, log-ins, refused attempts, and recent changes. */
export function Home() {
  const org = useOrg();
  const steps = useSteps();
  return (
    <>
      <h1>{t("home")}</h1>
      {steps.areOpen && (
        <section className={style["rows"]}>
          <h2>{t("firstSteps")}</h2>
          <Steps steps={steps} />
        </section>
      )}
      <Health />
      <LogIns org={org} />
      {recent.map((each) => (
        <RowsOfPage key={each.page.path} of={each} org={org} />
      ))}
      {steps.areTaken && (
        <p>
          <Link to="/first-steps">{t("firstSteps")}</Link>
        </p>
      )}
    </>
  );
}

/** The first steps, for whoever looks for them after they were taken. */
export function FirstSteps() {
  return (
    <>
      <h1>{t("firstSteps")}</h1>
      <Steps steps={useSteps()} />
    </>
  );
}
