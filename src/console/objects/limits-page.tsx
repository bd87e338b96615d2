import type { JsonObject } from "@bufbuild/protobuf";
import { type Amount, ownInstance } from "../declared/own-instance.ts";
import { at, textAt } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { Facts } from "../parts/detail.tsx";
import { List } from "../parts/list.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { PageRoute } from "../routes.ts";
import { numberText, t } from "../page-data.ts";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { Siblings } from "./siblings.tsx";
import { valueOf, wordOf } from "./value.tsx";

const { get, object: path, facts, amounts, countedWhereLimited } = ownInstance;
const message = fieldAt(get.output, path)?.message;

/** What the instance is limited to, and what it uses of it. */
export function LimitsPage({ route }: { route: PageRoute }) {
  const { data, error, refetch } = useAnswer(get, {});
  const found = at(data, path);
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      <p className={style["lead"]}>{t("limitsLead")}</p>
      {typeof found === "object" && found !== null && !Array.isArray(found) ? (
        <Limits object={found} />
      ) : error === null ? (
        <Waiting />
      ) : (
        <Problem error={error} retry={() => void refetch()} title="h2" />
      )}
    </>
  );
}

function Limits({ object }: { object: JsonObject }) {
  const names = useNames([object], facts);
  const used = ({ used: where, most }: Amount): string =>
    textAt(object, most) === "" && countedWhereLimited.includes(where)
      ? t("notCounted")
      : numberText(textAt(object, where));
  const most = (amount: Amount): string =>
    textAt(object, amount.most) === "" ? t("notLimited") : numberText(textAt(object, amount.most));
  return (
    <>
      <List
        label={t("limits")}
        pages={{ ...whole, rows: amounts }}
        keyOf={({ word }) => word}
        columns={[
          { title: t("what"), isMain: true, show: ({ word }) => t(word) },
          { title: t("used"), show: used },
          { title: t("atMost"), show: most },
        ]}
      />
      <div className={style["below"]}>
        <Facts facts={facts.map((fact) => [wordOf(fact), valueOf(message, object, fact, names)])} />
      </div>
    </>
  );
}

const whole = { error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} };
