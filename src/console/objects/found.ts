import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { servicePort } from "../declared/service-port.ts";

/** What is searched for: a phone number as it is kept, without what people write between its digits; any other text as it is. */
const searched = (q: string): string => (/^\+[\d\s()./-]+$/.test(q) ? q.replace(/[^+\d]/g, "") : q);

/**
 * What the service finds by a text, where that is long enough to look for; until the answer comes, by an older text.
 *
 * @param more `staleTime`: for how long, in milliseconds, an answer is not requested again
 * @returns `isAnswered` says whether nothing more is to come: what is found is by this text, or the call failed
 */
export function useFound(q: string, more: { staleTime?: number } = {}) {
  const isEnough = [...q].length >= 2;
  const { data, error } = useQuery({
    queryKey: ["find", q],
    queryFn: async ({ signal }) => ({ q, found: await servicePort.find(searched(q), signal) }),
    enabled: isEnough,
    placeholderData: keepPreviousData, // the library’s name for what is shown until the answer comes
    ...more,
  });
  const isAnswered = !isEnough || error !== null || data?.q === q;
  return { found: isEnough ? data?.found : undefined, error, isEnough, isAnswered };
}
