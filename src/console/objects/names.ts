import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { at, type Reference, type Shown, textAt } from "../declared/declare.ts";
import { userName } from "../declared/user-name.ts";
import { objectsAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { useRights } from "../rights.ts";

/** How the objects that an ID may name are found and called, and the path of their pages. */
const kinds: Readonly<
  Record<Reference, { method: DescMethodUnary; name: (object: JsonObject) => string; to: string }>
> = {
  person: { method: UserService.method.searchUsers, name: userName, to: "/people/$id" },
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
    to: "/applications/$id",
  },
};

export const pageOf = (kind: Reference): string => kinds[kind].to;

export const isReference = (as: string | undefined): as is Reference =>
  as !== undefined && as in kinds;

/** What the IDs in objects name, as far as the reader may know it: one call for each kind. */
export type Names = Readonly<Record<Reference, ReadonlyMap<string, string>>>;

/** As many as a filter may name. */
const mostIds = 1000;

export function useNames(objects: readonly JsonObject[], shown: readonly Shown[]): Names {
  return {
    person: useNamesOf("person", objects, shown),
    organization: useNamesOf("organization", objects, shown),
    project: useNamesOf("project", objects, shown),
    application: useNamesOf("application", objects, shown),
  };
}

const mostFirst = 8;

/** Some objects of a kind, for whoever does not know what to type; none where the reader may not search them. */
export function useFirst(kind: Reference, isAsked: boolean) {
  const { method, name } = kinds[kind];
  const { may } = useRights();
  const request = { query: { limit: mostFirst, asc: true, skip_total: true } };
  const { data } = useAnswer(method, isAsked && may(method) ? request : undefined);
  return objectsAt(data ?? {}, "result").map((each) => {
    const id = textAt(each, "details.id");
    return { id, name: name(each), more: id };
  });
}

function useNamesOf(
  kind: Reference,
  objects: readonly JsonObject[],
  shown: readonly Shown[],
): ReadonlyMap<string, string> {
  const { method, name } = kinds[kind];
  const { may } = useRights();
  const paths = shown.filter(({ as }) => isReference(as) && as === kind).map(({ path }) => path);
  const values = objects.flatMap((object) => paths.flatMap((path) => at(object, path) ?? []));
  const ids = [...new Set(values)].filter(
    (id): id is string => typeof id === "string" && id !== "",
  );
  const request = {
    query: { limit: mostIds, skip_total: true },
    filters: [{ in_ids: { ids: ids.toSorted().slice(0, mostIds) } }],
  };
  const { data } = useAnswer(method, ids.length > 0 && may(method) ? request : undefined);
  return new Map(
    objectsAt(data ?? {}, "result").map((each) => [textAt(each, "details.id"), name(each)]),
  );
}
