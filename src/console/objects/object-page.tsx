import type { JsonObject } from "@bufbuild/protobuf";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { at, type Kind } from "../declared/declare.ts";
import { fieldAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { AsCode } from "../parts/code.tsx";
import { Samples } from "../parts/copyable.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { PageSearch } from "../routes.ts";
import { useOrg, useRights } from "../rights.ts";
import { t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { objectRequest, placeOf, shownRows } from "./asked.ts";
import { History } from "./history.tsx";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { RowsOf } from "./rows.tsx";
import { valueOf, wordOf } from "./value.tsx";

// Loaded when somebody first asks who may do what.
const Access = lazy(async () => ({ default: (await import("./access.tsx")).Access }));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The page of an object, as its declaration says: what it is, what may be done with it, and its lists by tab. */
export function ObjectPage({ kind }: { kind: Kind }) {
  const { id = "" }: { id?: string } = useParams({ strict: false });
  const org = useOrg();
  const { data, error, refetch } = useAnswer(kind.get, objectRequest(kind, id, org));
  const object = at(data, kind.object);
  // What was read stays while it cannot be read anew: somebody may be filling in a form.
  if (error !== null && data === undefined) {
    return <Problem error={error} retry={() => void refetch()} />;
  }
  if (!isObject(object)) return <Waiting />;
  const reload = async () => {
    const now = at((await refetch({ throwOnError: true })).data, kind.object);
    return isObject(now) ? now : undefined;
  };
  return <Shown key={id} kind={kind} id={id} object={object} reload={reload} />;
}

function Shown({
  kind,
  id,
  object,
  reload,
}: {
  kind: Kind;
  id: string;
  object: JsonObject;
  reload: () => Promise<JsonObject | undefined>;
}) {
  const { tab: asked = "overview" }: PageSearch = useSearch({ strict: false });
  const { may } = useRights();
  const names = useNames([object], kind.facts);
  const message = fieldAt(kind.get.output, kind.object)?.message;
  const place = placeOf(kind, object, useOrg());
  const rows = shownRows(kind, object, may, place);
  const { history } = kind;
  const samples = kind.guide?.(object, location.origin) ?? [];
  const hasHistory = history !== undefined && may(history.method, place);
  const tabs = [
    ...new Set(["overview", ...rows.map((each) => each.tab), "access"]),
    ...(samples.length === 0 ? [] : ["guide"]),
    ...(hasHistory ? ["history"] : []),
    "code",
  ];
  // An address from somebody who may see more leads to what there is.
  const tab = tabs.includes(asked) ? asked : "overview";
  const name = kind.title(object) || id;
  return (
    <Detail
      title={name}
      back={
        <Link to={kind.back.to} search={keepOrg}>
          {t(kind.back.word)}
        </Link>
      }
      tabs={tabs}
      tab={tab}
    >
      {tab === "overview" && (
        <>
          <Actions
            {...{ name, place, reload, actions: kind.actions }}
            subject={{ object, page: object }}
          />
          <Facts
            facts={kind.facts.map((fact) => [wordOf(fact), valueOf(message, object, fact, names)])}
          />
          <Links kind={kind} id={id} />
        </>
      )}
      {rows
        .filter((each) => each.tab === tab)
        .map((each) => (
          <RowsOf key={each.word} rows={each} on={{ object, place, reload, message, name }} />
        ))}
      {tab === "access" && (
        <Suspense fallback={<Waiting />}>
          <Access {...{ kind, object, place }} />
        </Suspense>
      )}
      {tab === "guide" && samples.length > 0 && (
        <Samples lead={leadOf(kind, object)} samples={samples} />
      )}
      {tab === "history" && hasHistory && <History search={history} object={object} />}
      {tab === "code" && <AsCode method={kind.get} request={{ id }} />}
    </Detail>
  );
}

/** What stands above the guide. */
const leadOf = ({ guideWord, hasSecret }: Kind, object: JsonObject): string =>
  guideWord ?? (hasSecret?.(object) === false ? "guidePublic" : "guideLead");

/** Leads to the lists of what belongs to an organization. */
function Links({ kind: { links = [] }, id }: { kind: Kind; id: string }) {
  const { may } = useRights();
  const shown = links.filter(({ method }) => may(method, { organizationId: id }));
  if (shown.length === 0) return null;
  return (
    <p className={style["links"]}>
      {shown.map(({ to, word }) => (
        <Link key={to} to={to} search={{ org: id }}>
          {t(word)}
        </Link>
      ))}
    </p>
  );
}
