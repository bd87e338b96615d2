import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { AsCode } from "../parts/code.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useRights } from "../rights.ts";
import { t } from "../told.ts";
import { activityOf } from "./state-words.ts";

export function OrganizationPage() {
  const { id } = useParams({ from: "/organizations/$id" });
  const { tab = "overview" } = useSearch({ from: "/organizations/$id" });
  const { may } = useRights();
  const { data, error, refetch } = useQuery(OrganizationService.method.getOrganization, { id });
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />;
  if (data?.organization === undefined) return <Waiting />;
  const { details, state, organization } = data.organization;
  return (
    <Detail
      title={organization?.name ?? id}
      back={<Link to="/organizations">{t("organizations")}</Link>}
      tabs={["overview", "code"]}
      tab={tab}
    >
      {tab === "overview" && (
        <>
          <Facts
            facts={[
              [t("state"), activityOf(state)],
              [t("changed"), <Time key="time" at={details?.changeDate} />],
              [t("id"), <code key="id">{id}</code>],
            ]}
          />
          {may(UserService.method.searchUsers) && (
            <p>
              <Link to="/people" search={{ org: id }}>
                {t("people")}
              </Link>
            </p>
          )}
        </>
      )}
      {tab === "code" && (
        <AsCode
          read={{
            ...{ rest: `/organizations/${encodeURIComponent(id)}`, id },
            ...{ service: OrganizationService.typeName, method: "GetOrganization" },
          }}
        />
      )}
    </Detail>
  );
}
