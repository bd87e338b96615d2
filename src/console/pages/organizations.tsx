import { Link, useSearch } from "@tanstack/react-router";
import { TextFilterMethod } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { OrganizationFieldName } from "#gen/idsvc/resources/org/v3alpha/query_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { Filter, List } from "../parts/list.tsx";
import { usePages } from "../parts/pages.ts";
import { Time } from "../parts/time.tsx";
import { t } from "../told.ts";
import { activityOf } from "./state-words.ts";

const method = TextFilterMethod.STARTS_WITH_IGNORE_CASE;

export function Organizations() {
  const { q = "" } = useSearch({ from: "/organizations" });
  const pages = usePages(OrganizationService.method.searchOrganizations, {
    sortingColumn: OrganizationFieldName.NAME,
    filters: q === "" ? [] : [{ filter: { case: "name", value: { name: q, method } } }],
  });
  return (
    <>
      <h1>{t("organizations")}</h1>
      <Filter q={q} />
      <List
        label={t("organizations")}
        pages={pages}
        keyOf={({ details }) => details?.id ?? ""}
        columns={[
          {
            title: t("name"),
            isMain: true,
            show: ({ details, organization }) => (
              <Link to="/organizations/$id" params={{ id: details?.id ?? "" }}>
                {organization?.name}
              </Link>
            ),
          },
          { title: t("state"), show: ({ state }) => activityOf(state) },
          { title: t("changed"), show: ({ details }) => <Time at={details?.changeDate} /> },
          { title: t("id"), show: ({ details }) => <code>{details?.id}</code> },
        ]}
      />
    </>
  );
}
