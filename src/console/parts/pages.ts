import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { useTransport } from "@connectrpc/connect-query";
import { useInfiniteQuery } from "@tanstack/react-query";
import {
  type ListDetails,
  ListQuerySchema,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";

type Listed<R> = { details?: ListDetails | undefined; result: R[] };
type RowOf<O extends DescMessage> = MessageShape<O> extends { result: (infer R)[] } ? R : never;
const pageSize = 50;

/** The pages of a search, one behind the other by cursor: nothing is counted or skipped. */
export function usePages<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  asc = true,
) {
  const transport = useTransport();
  const found = useInfiniteQuery({
    queryKey: [method.parent.typeName, method.name, request, asc],
    initialPageParam: "",
    async queryFn({ pageParam: after, signal }) {
      const query = create(ListQuerySchema, { limit: pageSize, asc, after, skipTotal: true });
      const asked: unknown = { ...(request as object), query };
      const answer = await transport.unary(
        method,
        signal,
        undefined,
        undefined,
        // Every search has the field `query`.
        asked as MessageInitShape<I>,
      );
      // Every search answers so; the type of its rows is that of the method.
      return answer.message as unknown as Listed<RowOf<O>>;
    },
    getNextPageParam: ({ details }) => (details?.next ? details.next : undefined),
  });
  return {
    rows: found.data?.pages.flatMap(({ result }) => result),
    error: found.error,
    hasMore: found.hasNextPage,
    isFetchingMore: found.isFetchingNextPage,
    more: () => void found.fetchNextPage(),
    retry: () => void found.refetch(),
  };
}
