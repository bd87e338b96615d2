import type { Duration } from "@bufbuild/protobuf/wkt";

/** A duration in milliseconds; a part of one counts whole, so that no duration above zero becomes zero. */
export const toMs = ({ seconds, nanos }: Duration): number =>
  Number(seconds) * 1000 + Math.ceil(nanos / 1e6);

export const toDuration = (ms: number) => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: (ms % 1000) * 1e6,
});
