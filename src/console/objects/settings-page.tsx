import type { JsonObject } from "@bufbuild/protobuf";
import { contextOf, type SettingsGroup, textAt } from "../declared/declare.ts";
import { setBy, settingsOf } from "../declared/settings.ts";
import { useAnswer } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { Problem } from "../parts/problem.tsx";
import { Preview } from "../parts/preview.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useOrg } from "../rights.ts";
import type { PageRoute } from "../routes.ts";
import { t } from "../page-data.ts";
import { Actions } from "./actions.tsx";
import { useNames } from "./names.ts";
import style from "./objects.module.css";
import { pageRows, RowsOfPage } from "./page-rows.tsx";
import { Siblings } from "./siblings.tsx";
import { valueOf, wordOf } from "./value.tsx";

const people = pageRows("/people", { isHuman: true });

/** A group of settings: the value of each that counts here, which context set it, and how it is changed. */
export function SettingsPage({ route, group }: { route: PageRoute; group: SettingsGroup }) {
  const org = useOrg();
  const { data, error, refetch } = useAnswer(group.resolve, contextOf(org));
  return (
    <>
      <h1>{t(route.word)}</h1>
      <Siblings route={route} />
      {data === undefined ? (
        error === null ? (
          <Waiting />
        ) : (
          <Problem error={error} retry={() => void refetch()} title="h2" />
        )
      ) : (
        <Settings
          {...{ group, route, org, data }}
          reload={async () => (await refetch({ throwOnError: true })).data}
        />
      )}
      {group.concernsPeople === true && (
        <div className={style["below"]}>
          <p className={style["lead"]}>
            {t(org === undefined ? "concernsInstance" : "concernsOrganization")}
          </p>
          <RowsOfPage of={people} org={org} />
        </div>
      )}
      {group.preview !== undefined && <Preview key={JSON.stringify(data)} org={org} typed={{}} />}
    </>
  );
}

function Settings({
  group,
  route,
  org,
  data,
  reload,
}: {
  group: SettingsGroup;
  route: PageRoute;
  org: string | undefined;
  data: JsonObject;
  reload: () => Promise<JsonObject | undefined>;
}) {
  const names = useNames([], []);
  const rows = settingsOf(group);
  const place = org === undefined ? { isInstance: true as const } : { organizationId: org };
  return (
    <List
      label={t(route.word)}
      pages={{ rows, error: null, hasMore: false, isFetchingMore: false, more() {}, retry() {} }}
      keyOf={({ name }) => name}
      columns={[
        { title: t("setting"), isMain: true, show: ({ value }) => wordOf(value) },
        {
          title: t("field_value"),
          show: ({ value }) => valueOf(group.resolve.output, data, value, names) ?? t("none"),
        },
        { title: t("setBy"), show: ({ owner }) => t(setBy(textAt(data, owner))) },
        {
          title: t("actions"),
          show: ({ name, value, owner, change, reset }) => (
            <Actions
              // What is not set here comes from above: there is nothing to take back.
              actions={[
                ...(org !== undefined && group.ofInstance?.includes(name) === true ? [] : [change]),
                ...(textAt(data, owner) === "" ? [reset] : []),
              ]}
              subject={{ object: data, page: data }}
              {...{ name: wordOf(value), place, reload }}
              key={name}
            />
          ),
        },
      ]}
    />
  );
}
