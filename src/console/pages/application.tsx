import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { AsCode } from "../parts/code.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { t } from "../told.ts";
import { activityOf } from "./state-words.ts";

export function Application() {
  const { id } = useParams({ from: "/applications/$id" });
  const { tab = "overview" } = useSearch({ from: "/applications/$id" });
  const { data, error, refetch } = useQuery(AppService.method.getApp, { id });
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />;
  if (data?.app === undefined) return <Waiting />;
  const { details, state, app, clientId } = data.app;
  return (
    <Detail
      title={app?.name ?? id}
      back={
        <Link to="/applications" search={keepOrg}>
          {t("applications")}
        </Link>
      }
      tabs={["overview", "code"]}
      tab={tab}
    >
      {tab === "overview" && (
        <Facts
          facts={[
            [t("clientId"), <code key="client">{clientId}</code>],
            [t("project"), <code key="project">{app?.projectId}</code>],
            [t("state"), activityOf(state)],
            [t("changed"), <Time key="time" at={details?.changeDate} />],
            [t("id"), <code key="id">{id}</code>],
          ]}
        />
      )}
      {tab === "code" && (
        <AsCode
          read={{
            ...{ rest: `/apps/${encodeURIComponent(id)}`, id },
            ...{ service: AppService.typeName, method: "GetApp" },
          }}
        />
      )}
    </Detail>
  );
}
