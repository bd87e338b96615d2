import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type ListQuery, TextFilterMethod } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Page, TextMethod } from "../../projection/search.ts";

/** The page that a search asks for; without a query it is the first one, newest first. */
export const toPage = (query: ListQuery | undefined): Page => ({
  offset: query?.offset ?? 0n,
  limit: query?.limit ?? 0,
  asc: query?.asc ?? false,
  after: query?.after ?? "",
  skipTotal: query?.skipTotal ?? false,
});

/** Names the list that a search makes, for its cursors: by the filters, and by whatever else decides what is in it. */
export const listName = <F extends DescMessage>(
  filter: F,
  filters: readonly MessageShape<F>[],
  ...others: readonly unknown[]
): string => JSON.stringify([...others, filters.map((each) => toJson(filter, each))]);

const equals: TextMethod = { how: "equals", ignoreCase: false };
const textMethods: Record<number, TextMethod> = {
  [TextFilterMethod.EQUALS_IGNORE_CASE]: { how: "equals", ignoreCase: true },
  [TextFilterMethod.STARTS_WITH]: { how: "startsWith", ignoreCase: false },
  [TextFilterMethod.STARTS_WITH_IGNORE_CASE]: { how: "startsWith", ignoreCase: true },
  [TextFilterMethod.CONTAINS]: { how: "contains", ignoreCase: false },
  [TextFilterMethod.CONTAINS_IGNORE_CASE]: { how: "contains", ignoreCase: true },
  [TextFilterMethod.ENDS_WITH]: { how: "endsWith", ignoreCase: false },
  [TextFilterMethod.ENDS_WITH_IGNORE_CASE]: { how: "endsWith", ignoreCase: true },
};

/** Whether a filter compares a text in a way that no index answers. */
export const looksAtEach = (filters: readonly object[]): boolean =>
  filters.some((one) => {
    const { value } = (Reflect.get(one, "filter") ?? {}) as { value?: unknown };
    // Points in time are compared by methods of their own.
    if (typeof value !== "object" || value === null || !("method" in value)) return false;
    if ("date" in value) return false;
    const { how } = toTextMethod(value.method as TextFilterMethod);
    return how === "contains" || how === "endsWith";
  });

export const toTextMethod = (method: TextFilterMethod): TextMethod => textMethods[method] ?? equals;
