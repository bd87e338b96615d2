import type { InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/**
 * Calls that change something begin a little apart while the disk flushes: the next flush is theirs, whenever they begin before it.
 * Begun together, they would hold up calls that only read.
 */
export const spread =
  ({ beforeChange }: Ports): InterceptorFactory =>
  ({ isChange }) =>
    isChange && beforeChange !== undefined ? { check: beforeChange } : undefined;
