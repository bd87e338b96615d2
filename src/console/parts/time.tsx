import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { timeText, zone } from "../told.ts";

/** When something was, in the zone of the reader, which is told with it. */
export function Time({ at }: { at: Timestamp | undefined }) {
  if (at === undefined) return null;
  const date = timestampDate(at);
  return (
    <time dateTime={date.toISOString()} title={`${date.toISOString()} (${zone})`}>
      {timeText(date)}
    </time>
  );
}
