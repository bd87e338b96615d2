import type { JsonObject } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { May } from "../rights-of.ts";
import {
  at,
  contextOf,
  type Named,
  type Picked,
  type Reference,
  type Shown,
  textAt,
} from "./declare.ts";
import { userName } from "./user-name.ts";

export const namedBy: Readonly<Record<Reference, Named>> = {
  person: {
    method: UserService.method.searchUsers,
    name: userName,
    more: "user.username",
    to: "/people/$id",
  },
  organization: {
    method: OrganizationService.method.searchOrganizations,
    name: (object) => textAt(object, "organization.name"),
    to: "/organizations/$id",
  },
  project: {
    method: ProjectService.method.searchProjects,
    name: (object) => textAt(object, "project.name"),
    to: "/projects/$id",
  },
  application: {
    method: AppService.method.searchApps,
    name: (object) => textAt(object, "app.name"),
    more: "client_id",
    to: "/applications/$id",
  },
  provider: {
    method: IdentityProviderService.method.searchIDPs,
    name: (object) => textAt(object, "idp.name"),
    isInherited: true,
  },
};

/** As many as a filter may name. */
const mostIds = 1000;
const mostFirst = 8;

/** What finds the objects of some IDs; nothing, where there is none or the reader may not search them. */
export function namesRequest(
  named: Named,
  ids: readonly string[],
  { may, org }: { may: May; org: string | undefined },
): JsonObject | undefined {
  const { method, isInherited = false } = named;
  const query = { limit: mostIds, skip_total: true };
  if (ids.length === 0) return undefined;
  if (isInherited) {
    const place = org === undefined ? { isInstance: true as const } : { organizationId: org };
    return may(method, place) ? { ...contextOf(org), query } : undefined;
  }
  if (!may(method)) return undefined;
  return { query, filters: [{ in_ids: { ids: [...new Set(ids)].toSorted().slice(0, mostIds) } }] };
}

/** What finds some objects of a kind, for whoever does not know what to type. */
export function firstRequest(kind: Picked, may: May): JsonObject | undefined {
  const { method } = namedBy[kind];
  return may(method) ? { query: { limit: mostFirst, asc: true, skip_total: true } } : undefined;
}

const picked: readonly Picked[] = ["person", "organization", "project", "application"];
export const references: readonly Reference[] = [...picked, "provider"];

export const isPicked = (as: string | undefined): as is Picked =>
  picked.some((each) => each === as);

/** The IDs of a kind that stand where the objects are shown. */
export const idsIn = (
  kind: Reference,
  objects: readonly JsonObject[],
  shown: readonly Shown[],
): string[] => {
  const paths = shown.filter(({ as }) => as === kind).map(({ path }) => path);
  return idsAt(objects, paths);
};

const idsAt = (objects: readonly JsonObject[], paths: readonly string[]): string[] => {
  const values = objects.flatMap((object) => paths.flatMap((path) => at(object, path) ?? []));
  return values.filter((id): id is string => typeof id === "string" && id !== "");
};

/** What is named by what its own place declares, of which there is one kind at a time, and its IDs. */
export function ownNamed(
  objects: readonly JsonObject[],
  shown: readonly Shown[],
): { named: Named; ids: string[] } | undefined {
  const own = shown.filter((each) => each.named !== undefined);
  const named = own[0]?.named;
  return (
    named && {
      named,
      ids: idsAt(
        objects,
        own.map(({ path }) => path),
      ),
    }
  );
}
