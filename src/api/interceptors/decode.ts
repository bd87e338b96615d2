import { whenKnown } from "../../awaitable.ts";
import type { InterceptorFactory } from "../call.ts";

/** Reads and decodes the request, in whatever protocol it came. */
export const decode = (): InterceptorFactory => () => ({
  check: (call) => whenKnown(call.decode(), (request) => void (call.request = request)),
});
