import { callerGone, deadlineExceeded } from "../../errors.ts";
import { type InterceptorFactory, leave } from "../call.ts";

/**
 * Ends a call at the earlier of what the client allows and what the method allows (A8), and when the client
 * has gone. The work below is told by the call's signal; a write that is already handed to the store still commits.
 * Of a stream this bounds the opening; what flows afterwards has only an idle limit.
 */
export const deadline = (): InterceptorFactory => (rule) => (call, next) => {
  const ms = Math.min(call.timeoutMs ?? rule.timeoutMs, rule.timeoutMs);
  const answer = next();
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = () => {
      isOver = true;
      clearTimeout(timer);
    };
    const expire = () => {
      reject(deadlineExceeded("DEADLINE_EXCEEDED", `the call took longer than ${ms} ms`));
      leave(call);
    };
    // Most calls are over within the turn of the event loop that they came in: those need no timer.
    setImmediate(() => {
      if (!isOver) timer = setTimeout(expire, ms);
    });
    call.onGone = () => reject(callerGone());
    if (call.gone) call.onGone();
    void answer.then(resolve, reject).then(end);
  });
};
