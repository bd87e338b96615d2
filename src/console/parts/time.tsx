import { timeText, zone } from "../page-data.ts";

/** When something was, in the zone of the reader, which is told with it. */
export function Time({ at }: { at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${at} (${zone})`}>
      {timeText(date)}
    </time>
  );
}
