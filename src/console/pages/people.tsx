import { Link, useSearch } from "@tanstack/react-router";
import { create } from "@bufbuild/protobuf";
import { TextFilterMethod } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import {
  UserFieldName,
  type UserSearchFilter,
  UserSearchFilterSchema,
} from "#gen/idsvc/resources/user/v3alpha/query_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { Filter, List } from "../parts/list.tsx";
import { usePages } from "../parts/pages.ts";
import { Time } from "../parts/time.tsx";
import { keepOrg } from "../parts/keep-org.ts";
import { t } from "../told.ts";
import { kindOf, nameOf, stateOf } from "./user-words.ts";

const method = TextFilterMethod.STARTS_WITH_IGNORE_CASE;
const begins = (name: "username" | "displayName" | "email", q: string): UserSearchFilter =>
  create(UserSearchFilterSchema, { filter: { case: name, value: { name: q, method } } });

/** Those whose name, username or address begins with a text, of an organization if one is chosen. */
function filtersOf(q: string, org: string | undefined): UserSearchFilter[] {
  const filters: UserSearchFilter[] = [];
  if (org !== undefined) {
    const value = { org: { case: "orgId" as const, value: org } };
    filters.push(create(UserSearchFilterSchema, { filter: { case: "organization", value } }));
  }
  if (q !== "") {
    const either = [begins("username", q), begins("displayName", q), begins("email", q)];
    const value = { filters: either };
    filters.push(create(UserSearchFilterSchema, { filter: { case: "or", value } }));
  }
  return filters;
}

export function People() {
  const { q = "", org } = useSearch({ from: "/people" });
  const pages = usePages(UserService.method.searchUsers, {
    sortingColumn: UserFieldName.USERNAME,
    filters: filtersOf(q, org),
  });
  return (
    <>
      <h1>{t("people")}</h1>
      <Filter key={org ?? ""} q={q} />
      <List
        label={t("people")}
        pages={pages}
        keyOf={({ details }) => details?.id ?? ""}
        columns={[
          {
            title: t("username"),
            isMain: true,
            show: ({ details, user }) => (
              <Link to="/people/$id" params={{ id: details?.id ?? "" }} search={keepOrg}>
                {user?.username}
              </Link>
            ),
          },
          { title: t("name"), show: ({ user }) => nameOf(user) },
          { title: t("email"), show: ({ user }) => user?.contact?.email?.address },
          { title: t("kind"), show: ({ user }) => kindOf(user) },
          { title: t("state"), show: ({ state }) => stateOf(state) },
          { title: t("changed"), show: ({ details }) => <Time at={details?.changeDate} /> },
        ]}
      />
    </>
  );
}
