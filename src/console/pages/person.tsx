import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import type { MembershipContext } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { AsCode } from "../parts/code.tsx";
import { Detail, Facts } from "../parts/detail.tsx";
import { List } from "../parts/list.tsx";
import { OrganizationName, useNames, UserName } from "../parts/names.tsx";
import { usePages } from "../parts/pages.ts";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { t } from "../told.ts";
import { kindOf, nameOf, stateOf } from "./user-words.ts";

export function Person() {
  const { id } = useParams({ from: "/people/$id" });
  const { tab = "overview" } = useSearch({ from: "/people/$id" });
  const { data, error, refetch } = useQuery(UserService.method.getUser, { id });
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />;
  if (data?.user === undefined) return <Waiting />;
  const { details, state, user } = data.user;
  const organizationId = details?.resourceOwner?.id ?? "";
  return (
    <Detail
      title={nameOf(user) || (user?.username ?? id)}
      back={
        <Link to="/people" search={keepOrg}>
          {t("people")}
        </Link>
      }
      tabs={["overview", "access", "history", "code"]}
      tab={tab}
    >
      {tab === "overview" && (
        <Facts
          facts={[
            [t("username"), user?.username],
            [t("email"), user?.contact?.email?.address],
            [t("phone"), user?.contact?.phone?.number],
            [t("kind"), kindOf(user)],
            [t("state"), stateOf(state)],
            [t("organization"), <OrganizationName key="name" id={organizationId} />],
            [t("changed"), <Time key="time" at={details?.changeDate} />],
            [t("id"), <code key="id">{id}</code>],
          ]}
        />
      )}
      {tab === "access" && <Access id={id} />}
      {tab === "history" && <History id={id} />}
      {tab === "code" && (
        <AsCode
          read={{
            ...{ rest: `/users/${encodeURIComponent(id)}`, id },
            ...{ service: UserService.typeName, method: "GetUser" },
          }}
        />
      )}
    </Detail>
  );
}

const whereOf = ({ ctx }: { ctx?: MembershipContext | undefined }): string => {
  const { case: kind, value } = ctx?.context ?? {};
  if (kind === "orgId") return `${t("organization")} ${value}`;
  if (kind === "projectId" || kind === "projectGrantId") return `${t("project")} ${value}`;
  return t("everything");
};

function Access({ id }: { id: string }) {
  const pages = usePages(MembershipService.method.searchMemberships, {
    filters: [{ filter: { case: "inUserIds", value: { ids: [id] } } }],
  });
  return (
    <List
      label={t("access")}
      pages={pages}
      keyOf={({ details }) => details?.id ?? ""}
      columns={[
        { title: t("role"), isMain: true, show: ({ membership }) => membership?.roles.join(", ") },
        { title: t("where"), show: ({ membership }) => membership && whereOf(membership) },
        { title: t("changed"), show: ({ details }) => <Time at={details?.changeDate} /> },
      ]}
    />
  );
}

function History({ id }: { id: string }) {
  const pages = usePages(UserService.method.searchUserEvents, { id }, false);
  const names = useNames(pages.rows?.map(({ editor }) => editor?.userId) ?? []);
  return (
    <List
      label={t("history")}
      pages={pages}
      keyOf={({ sequence }) => String(sequence)}
      columns={[
        {
          title: t("what"),
          isMain: true,
          show: ({ localizedMessage, type }) => (
            <span title={type}>{localizedMessage || type}</span>
          ),
        },
        { title: t("when"), show: ({ creationDate }) => <Time at={creationDate} /> },
        {
          title: t("who"),
          show: ({ editor }) => editor && <UserName id={editor.userId} names={names} />,
        },
        { title: t("request"), show: ({ editor }) => <code>{editor?.requestId}</code> },
      ]}
    />
  );
}
