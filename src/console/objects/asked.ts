import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import {
  contextOf,
  type Kind,
  type Rows,
  type Search,
  type Span,
  textAt,
} from "../declared/declare.ts";
import type { May, Place, Rights } from "../rights-of.ts";

const has = ({ input }: DescMethodUnary, field: string): boolean =>
  input.fields.some(({ name }) => name === field);

/** How many rows of a list on the page of an object are asked for: others follow below it, and each row has buttons. */
export const rowsOfPage = 25;

/** Whether an object is asked for as a context has it. */
export const isOfContext = ({ get }: Kind): boolean => has(get, "ctx");

/** What is asked for an object. */
export const objectRequest = (kind: Kind, id: string, org: string | undefined): JsonObject => ({
  id,
  ...(isOfContext(kind) ? contextOf(org) : {}),
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

const isWhole = (request: JsonObject): boolean => !JSON.stringify(request).includes('""');

/**
 * The lists of a tab that can be asked for before the object is known: by its ID alone, by somebody who may read them of every object of
 * the kind.
 */
export const foreseenRows = (
  { rows, organization }: Kind,
  { id, tab }: { id: string; tab: string },
  { may, permissionOf }: Pick<Rights, "may" | "permissionOf">,
): { search: Search; request: JsonObject }[] =>
  rows.flatMap(({ search, when, isByPeriod, ...each }) => {
    if (search === undefined || each.tab !== tab) return [];
    if (when !== undefined || isByPeriod === true) return [];
    const everywhere = organization === undefined ? { isInstance: true as const } : anyOrganization;
    // Where the schema states no permission, the object decides who may.
    const isStated = permissionOf(search.method, everywhere) !== "";
    if (!isStated || !may(search.method, everywhere)) return [];
    // What of the object is not known yet is an empty text.
    const request = search.request({ details: { id } });
    return isWhole(request) ? [{ search, request }] : [];
  });

/** Only who may do something in all organizations may do it in one of which nothing is known. */
const anyOrganization: Place = { organizationId: "" };

/** So many positions up to the one that the address names, else up to the end of the log. */
export function spanOf(size: bigint, head: bigint, near = ""): Span & { last: string } {
  const named = /^\d{1,18}$/.test(near) ? BigInt(near) : undefined;
  const last = named !== undefined && named < head ? named : head;
  const from = last > size ? last - size + 1n : 1n;
  return {
    from: String(from),
    last: String(last),
    ...(last === head ? {} : { to: String(last) }),
  };
}
