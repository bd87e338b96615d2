import { aborted } from "../errors.ts";

export const conflictOfFlows = (cause: unknown) =>
  aborted("LOGIN_FLOW_CHANGED", "the login went on in another window: load the page again", {
    cause,
  });
