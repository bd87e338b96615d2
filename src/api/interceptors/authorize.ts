import type { ServiceBinding } from "../../authz/service.ts";
import type { InterceptorFactory } from "../call.ts";
import { scopeOf } from "../scope.ts";
import type { Ports } from "./index.ts";

/** Lets the slice check the object that the request names (B3). */
export const authorize =
  (_: Ports, binding: ServiceBinding): InterceptorFactory =>
  ({ method }) => {
    const check = binding.authorize[method.localName];
    if (check === undefined) return undefined;
    return { check: (call) => check(call.request as never, scopeOf(call)) };
  };
