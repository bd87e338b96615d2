import type { InterceptorFactory } from "../call.ts";
import { requireValid } from "../validation.ts";
import type { Ports } from "./index.ts";

/**
 * Checks the rules that the schema states for the request.
 *
 * @throws INVALID_ARGUMENT VALIDATION_FAILED with the field paths
 */
export const validate =
  ({ validator }: Ports): InterceptorFactory =>
  ({ method }) => {
    const check = requireValid(validator, method.input);
    return {
      check: ({ request }) => (request === undefined ? undefined : check(request)),
    };
  };
