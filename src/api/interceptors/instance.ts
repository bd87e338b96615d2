import { whenKnown } from "../../awaitable.ts";
import { hostName, issuerOf } from "../../authz/host.ts";
import { notFound } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/**
 * Resolves the instance by the host of the request, port ignored (B1).
 *
 * @throws NOT_FOUND INSTANCE_UNKNOWN_HOST
 */
export const instance =
  ({ instances, externalUrl }: Ports): InterceptorFactory =>
  () => {
    const enter = (
      call: Call,
      domain: string,
      owner: { id: string; isBlocked: boolean } | undefined,
    ): void => {
      if (owner === undefined) throw unknownHost(call.host, externalUrl);
      call.instanceId = owner.id;
      call.isBlocked = owner.isBlocked;
      call.issuer = issuerOf(externalUrl, domain);
    };
    return {
      check(call) {
        const domain = hostName(call.host);
        return whenKnown(instances.byDomain(domain), (owner) => enter(call, domain, owner));
      },
    };
  };

export function unknownHost(host: string, externalUrl: URL) {
  return notFound(
    "INSTANCE_UNKNOWN_HOST",
    `no instance is served at host "${host}" (taken from the Host header): call ${externalUrl.origin}, ` +
      "or set IDSVC_EXTERNAL_URL to where it is reached and start again, or add the domain to an instance",
    { metadata: { host } },
  );
}
