import { Link } from "@tanstack/react-router";
import { useOrg, useRights } from "../rights.ts";
import { pages } from "../routes.ts";
import { t } from "../page-data.ts";
import { Health, useHasHealth } from "./health.tsx";
import { LogIns, useHasLogIns } from "./log-ins.tsx";
import style from "./objects.module.css";
import { pageRows, RowsOfPage } from "./page-rows.tsx";
import { Steps, useSteps } from "./steps.tsx";

const recent = ["/refusals", "/events"].map((path) => pageRows(path));

/** What is next, what needs somebody and what happened: first steps that are open, health, log-ins, refused attempts, and recent changes. */
export function Home() {
  const org = useOrg();
  const { reach } = useRights();
  const steps = useSteps();
  const hasHealth = useHasHealth();
  const hasLogIns = useHasLogIns(org);
  const isBare =
    steps.steps.length === 0 &&
    !hasHealth &&
    !hasLogIns &&
    recent.every(({ page }) => reach(page, org) === undefined);
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
      {isBare && <Ways />}
      {steps.areTaken && (
        <p>
          <Link to="/first-steps">{t("firstSteps")}</Link>
        </p>
      )}
    </>
  );
}

/** Where somebody for whom there is nothing to look at may go: to what they administer, and to their own account. */
function Ways() {
  const { reach } = useRights();
  const org = useOrg();
  const shown = pages.flatMap((page) => {
    const search = reach(page, org);
    return search === undefined ? [] : [{ page, search }];
  });
  return (
    <>
      <p className={style["lead"]}>
        {shown.length === 0 && `${t("administersNothing")} `}
        <a href="/ui/account">{t("account")}</a>
      </p>
      <ul className={style["checks"]}>
        {shown.map(({ page: { path, word }, search }) => (
          <li key={path}>
            <Link to={path} search={search}>
              {t(word)}
            </Link>
          </li>
        ))}
      </ul>
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
