import type { Deps } from "../../../projection/module.ts";
import { idpLinkKey } from "../authenticator/events.ts";
import { authenticatorReader } from "../authenticator/queries.ts";
import { user } from "../user.ts";

/** Which user has an account with a provider. A link that is suspended leads to nobody (J1a). */
export function linkedUserReader({ db, events }: Pick<Deps, "db" | "events">) {
  const links = authenticatorReader(db);
  return async (
    instanceId: string,
    idpId: string,
    externalUserId: string,
  ): Promise<{ id: string; organizationId: string | undefined } | undefined> => {
    const link = await links.byLookup(instanceId, "idp", idpLinkKey({ idpId, externalUserId }));
    if (link?.isVerified !== true) return undefined;
    const { state } = await events.load(user, instanceId, link.userId);
    return { id: link.userId, organizationId: state?.organizationId };
  };
}
