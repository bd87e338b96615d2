import type { JsonObject } from "@bufbuild/protobuf";
import { useSearch } from "@tanstack/react-router";
import { at, contextOf, type SettingsGroup, textAt } from "../declared/declare.ts";
import { settingsOf } from "../declared/settings.ts";
import { useAnswer } from "../json-calls.ts";
import { List } from "../parts/list.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { PageRoute, PageSearch } from "../routes.ts";
import { t } from "../told.ts";
import { Actions } from "./actions.tsx";
import { useNames } from "./names.ts";
import { Siblings } from "./siblings.tsx";
import { valueOf, wordOf } from "./value.tsx";

/** A group of settings: the value of each that counts here, which context set it, and how it is changed. */
export function SettingsPage({ route, group }: { route: PageRoute; group: SettingsGroup }) {
  const { org }: PageSearch = useSearch({ strict: false });
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
    </>
  );
}

/** Nobody sets anything above the instances: what stands there is built in. */
const setBy = (owner: string): string =>
  owner === "" || owner === "OWNER_TYPE_SYSTEM" ? "builtIn" : owner;

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
  // What an organization did not set itself it has from above: there is nothing to take back.
  const here = org === undefined ? "OWNER_TYPE_INSTANCE" : "OWNER_TYPE_ORG";
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
              actions={at(data, owner) === here ? [change, reset] : [change]}
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
