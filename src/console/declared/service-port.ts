import { callUnaryMethod } from "@connectrpc/connect-query";
import { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { transport } from "../calls.ts";
import type { ServicePort } from "../ports.ts";
import { toMe } from "./reader.ts";

/** What the console asks on every page, as the service of what callers may do answers it. */
export const servicePort: ServicePort = {
  async me(limit, signal) {
    const method = AuthService.method.getMyPermissions;
    return toMe(await callUnaryMethod(transport, method, { limit }, optionsOf(signal)));
  },
  find: (q, signal) =>
    callUnaryMethod(transport, AuthService.method.searchAll, { q }, optionsOf(signal)),
};

const optionsOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
