import { Link, useSearch } from "@tanstack/react-router";
import { create } from "@bufbuild/protobuf";
import {
  AppFieldName,
  type AppSearchFilter,
  AppSearchFilterSchema,
} from "#gen/idsvc/resources/app/v3alpha/query_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { TextFilterMethod } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { Filter, List } from "../parts/list.tsx";
import { usePages } from "../parts/pages.ts";
import { Time } from "../parts/time.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { t } from "../told.ts";
import { activityOf } from "./state-words.ts";

const method = TextFilterMethod.STARTS_WITH_IGNORE_CASE;

function filtersOf(q: string, org: string | undefined): AppSearchFilter[] {
  const filters: AppSearchFilter[] = [];
  if (org !== undefined) {
    const value = { org: { case: "orgId" as const, value: org } };
    filters.push(create(AppSearchFilterSchema, { filter: { case: "organization", value } }));
  }
  if (q !== "") {
    const value = { name: q, method };
    filters.push(create(AppSearchFilterSchema, { filter: { case: "name", value } }));
  }
  return filters;
}

export function Applications() {
  const { q = "", org } = useSearch({ from: "/applications" });
  const pages = usePages(AppService.method.searchApps, {
    sortingColumn: AppFieldName.NAME,
    filters: filtersOf(q, org),
  });
  return (
    <>
      <h1>{t("applications")}</h1>
      <Filter key={org ?? ""} q={q} />
      <List
        label={t("applications")}
        pages={pages}
        keyOf={({ details }) => details?.id ?? ""}
        columns={[
          {
            title: t("name"),
            isMain: true,
            show: ({ details, app }) => (
              <Link to="/applications/$id" params={{ id: details?.id ?? "" }} search={keepOrg}>
                {app?.name}
              </Link>
            ),
          },
          { title: t("clientId"), show: ({ clientId }) => <code>{clientId}</code> },
          { title: t("project"), show: ({ app }) => <code>{app?.projectId}</code> },
          { title: t("state"), show: ({ state }) => activityOf(state) },
          { title: t("changed"), show: ({ details }) => <Time at={details?.changeDate} /> },
        ]}
      />
    </>
  );
}
