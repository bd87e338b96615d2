import type { InterceptorFactory } from "../call.ts";
import { toDomainError } from "../errors.ts";

/** Nothing but refusals leaves a call: what is not one becomes INTERNAL, its cause goes to the log. */
export const errors = (): InterceptorFactory => () => async (call, next) => {
  try {
    return await next();
  } catch (error) {
    throw toDomainError(error, call.requestId);
  }
};
