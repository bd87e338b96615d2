import type { InterceptorFactory } from "../call.ts";

/** Reads and decodes the request, in whatever protocol it came. */
export const decode = (): InterceptorFactory => () => ({
  check(call) {
    const request = call.decode();
    if (request instanceof Promise) return request.then((read) => void (call.request = read));
    call.request = request;
    return undefined;
  },
});
