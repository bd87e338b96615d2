import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UserSearchFilterSchema } from "#gen/idsvc/resources/user/v3alpha/query_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { nameOf } from "../pages/user-words.ts";
import { useRights } from "../rights.ts";
import { keepOrg } from "./keep-org.ts";

/** As many as a filter may name. */
const mostIds = 1000;

/** What users are called, as far as the reader may know: one call for all of them. */
export function useNames(ids: readonly (string | undefined)[]): ReadonlyMap<string, string> {
  const wanted = [...new Set(ids)].filter((id): id is string => id !== undefined && id !== "");
  const value = { ids: wanted.slice(0, mostIds) };
  const { data } = useQuery(
    UserService.method.searchUsers,
    {
      query: { limit: 1000, skipTotal: true },
      filters: [create(UserSearchFilterSchema, { filter: { case: "inIds", value } })],
    },
    { enabled: wanted.length > 0 },
  );
  return new Map(
    data?.result.map(({ details, user }) => [
      details?.id ?? "",
      nameOf(user) || (user?.username ?? ""),
    ]),
  );
}

/** A user by their name, where the reader may know it, else by their ID. */
export function UserName({ id, names }: { id: string; names: ReadonlyMap<string, string> }) {
  const name = names.get(id);
  if (name === undefined) return <code>{id}</code>;
  return (
    <Link to="/people/$id" params={{ id }} search={keepOrg}>
      {name}
    </Link>
  );
}

/** An organization by its name, where the reader may know it, else by its ID. */
export function OrganizationName({ id }: { id: string }) {
  const isReadable = useRights().may(OrganizationService.method.getOrganization);
  const { data } = useQuery(
    OrganizationService.method.getOrganization,
    { id },
    { enabled: isReadable },
  );
  if (!isReadable) return <code>{id}</code>;
  return (
    <Link to="/organizations/$id" params={{ id }}>
      {data?.organization?.organization?.name ?? id}
    </Link>
  );
}
