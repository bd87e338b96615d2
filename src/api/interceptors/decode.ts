import type { InterceptorFactory } from "../call.ts";

/** Reads and decodes the request, in whatever protocol it came. */
export const decode = (): InterceptorFactory => () => async (call, next) => {
  call.request = await call.decode();
  return next();
};
