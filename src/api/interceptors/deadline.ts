import { cancelled, deadlineExceeded } from "../../errors.ts";
import type { InterceptorFactory } from "../call.ts";

/**
 * Ends a call at the earlier of what the client allows and what the method allows (decisions A8), and when the client
 * has gone. The work below is told by the call's signal; a write that is already handed to the store still commits.
 * Of a stream this bounds the opening; what flows afterwards has only an idle limit.
 */
export const deadline = (): InterceptorFactory => (rule) => (call, next) => {
  const ms = Math.min(call.timeoutMs ?? rule.timeoutMs, rule.timeoutMs);
  const answer = next();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      call.abort?.abort();
      reject(deadlineExceeded("DEADLINE_EXCEEDED", `the call took longer than ${ms} ms`));
    }, ms);
    call.onGone = () => reject(cancelled("CANCELLED", "the caller has gone"));
    if (call.gone) call.onGone();
    void answer.then(resolve, reject).then(() => clearTimeout(timer));
  });
};
