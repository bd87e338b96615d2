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

/** Where an object is, for what may be done to it there. */
export function placeOf({ organization, project }: Kind, object: JsonObject): Place | undefined {
  if (organization === undefined) return undefined;
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
