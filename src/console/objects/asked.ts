import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { contextOf, type Kind, type Rows, textAt } from "../declared/declare.ts";
import type { May, Place } from "../rights-of.ts";

const has = ({ input }: DescMethodUnary, field: string): boolean =>
  input.fields.some(({ name }) => name === field);

/** What is asked for an object. */
export const objectRequest = ({ get }: Kind, id: string, org: string | undefined): JsonObject => ({
  id,
  ...(has(get, "ctx") ? contextOf(org) : {}),
});

/** A page of a search, where the method has pages: nothing is counted. */
export const pageRequest = (
  method: DescMethodUnary,
  request: JsonObject,
  { limit, isDescending, after }: { limit: number; isDescending: boolean; after: string },
): JsonObject =>
  has(method, "query")
    ? { ...request, query: { limit, asc: !isDescending, after, skip_total: true } }
    : request;

/** Where an object is, for what may be done to it there: what a context inherits, in the context that it is looked at from. */
export function placeOf(
  { organization, project, isInherited }: Kind,
  object: JsonObject,
  org: string | undefined,
): Place {
  if (organization === undefined) return { isInstance: true };
  if (isInherited === true && org !== undefined) return { organizationId: org };
  const isOfInstance = textAt(object, "details.resource_owner.type") === "OWNER_TYPE_INSTANCE";
  if (isInherited === true && isOfInstance) return { isInstance: true };
  const projectId = project === undefined ? "" : textAt(object, project);
  return {
    organizationId: textAt(object, organization),
    ...(projectId === "" ? {} : { projectId }),
  };
}

/** The lists on the page of an object that the reader may see. */
export const shownRows = (
  kind: Kind,
  object: JsonObject,
  may: May,
  place: Place | undefined,
): Rows[] =>
  kind.rows.filter(
    ({ search, when }) =>
      (search === undefined || may(search.method, place)) && (when === undefined || when(object)),
  );
