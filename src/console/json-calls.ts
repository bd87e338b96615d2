import { type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { callUnaryMethod } from "@connectrpc/connect-query";
import { skipToken, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { transport } from "./calls.ts";
import { at, textAt } from "./declared/declare.ts";
import { listOf, objectsAt } from "./declared/schema.ts";
import { pageRequest } from "./objects/asked.ts";

const usualPageSize = 50;
const largestPage = 1000;

/** Calls a method with a request in JSON, by the names of the schema; the answer in the same form. */
export async function callByJson(
  method: DescMethodUnary,
  request: JsonObject,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const message = fromJson(method.input, request);
  const options = signal === undefined ? {} : { signal };
  const answer = await callUnaryMethod(transport, method, message, options);
  const json = toJson(method.output, answer, {
    useProtoFieldName: true,
    alwaysEmitImplicit: true,
  });
  // A message is an object in JSON, but for those of google.protobuf, which no method answers.
  return json as JsonObject;
}

const keyOf = (method: DescMethodUnary, request: JsonObject | undefined) => [
  method.parent.typeName,
  method.name,
  request,
];

type AnswerOptions = {
  /** After how many milliseconds it is asked again; never, where it is not said. */
  again?: (answer: JsonObject) => number | false;
  /** It is a list to choose from: each time it is opened it is asked again, and shows the last answer until then. */
  isOffered?: true;
};

/** How a method is asked, once while several want to know. */
export const answerOf = (method: DescMethodUnary, request: JsonObject) => ({
  queryKey: keyOf(method, request),
  queryFn: ({ signal }: { signal: AbortSignal }) => callByJson(method, request, signal),
});

/** What a method answers; nothing is asked without a request. */
export function useAnswer(
  method: DescMethodUnary,
  request: JsonObject | undefined,
  { again = () => false, isOffered }: AnswerOptions = {},
) {
  return useQuery<JsonObject>({
    refetchInterval: ({ state }) => (state.data === undefined ? false : again(state.data)),
    ...(isOffered && { staleTime: 0 }),
    ...(request === undefined
      ? { queryKey: keyOf(method, request), queryFn: skipToken }
      : answerOf(method, request)),
  });
}

type PagesOptions = {
  isDescending?: boolean;
  pageSize?: number;
  /** For what goes on by itself: after how many milliseconds it is asked again. It is read anew whenever it is shown. */
  again?: (rows: readonly JsonObject[]) => number | false;
};

/** How the pages of a search are asked for, one behind the other by cursor: nothing is counted or skipped. */
export const pagesOf = (
  method: DescMethodUnary,
  request: JsonObject,
  { isDescending = false, pageSize = usualPageSize }: Omit<PagesOptions, "again"> = {},
) => ({
  queryKey: [...keyOf(method, request), isDescending, pageSize],
  initialPageParam: "",
  queryFn({ pageParam: after, signal }: { pageParam: string; signal: AbortSignal }) {
    const asked = pageRequest(method, request, { limit: pageSize, isDescending, after });
    return callByJson(method, asked, signal);
  },
  getNextPageParam: (answer: JsonObject) => textAt(answer, "details.next") || undefined,
});

/** The pages of a search. */
export function usePages(
  method: DescMethodUnary,
  request: JsonObject,
  { again, ...options }: PagesOptions = {},
) {
  const list = listOf(method.output);
  /** Rows that have no state of their own, such as texts, have that of all of them together. */
  const rowsIn = (page: JsonObject): JsonObject[] => {
    const sequence = at(page, "details.sequence");
    const rows = objectsAt(page, list?.name ?? "");
    return sequence === undefined ? rows : rows.map((row) => ({ details: { sequence }, ...row }));
  };
  const found = useInfiniteQuery({
    ...pagesOf(method, request, options),
    ...(again && { staleTime: 0 }),
    refetchInterval: ({ state: { data } }) => again?.(data?.pages.flatMap(rowsIn) ?? []) ?? false,
  });
  async function* all(asked = request) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const { isDescending = false } = options;
      const ofPage = pageRequest(method, asked, { limit: largestPage, isDescending, after });
      const page: JsonObject = await callByJson(method, ofPage);
      yield rowsIn(page);
      after = textAt(page, "details.next") || undefined;
    }
  }
  return {
    /** All that the list has, or that another request of the search finds, page by page. */
    all,
    rows: found.data?.pages.flatMap(rowsIn),
    /** How many pages there are of it here. */
    loaded: found.data?.pages.length ?? 1,
    error: found.error,
    hasMore: found.hasNextPage,
    isFetchingMore: found.isFetchingNextPage,
    more: () => void found.fetchNextPage(),
    retry: () => void found.refetch(),
    /** What is in the list now. */
    async reload() {
      const { data } = await found.refetch({ throwOnError: true });
      return (data?.pages ?? []).flatMap(rowsIn);
    },
  };
}
