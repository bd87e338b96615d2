import type { Deps, RemoveContents } from "../../projection/module.ts";
import { domainIdOf, organization, type OwnDomain } from "../org/index.ts";
import { tokenRef } from "./validation.ts";

const asked = "org.domain.verification.added";

/**
 * Forgets the tokens that an organization which goes was to prove its domains with. The domains themselves went with it,
 * so its log tells which there were.
 */
export const removeContentsOfDomains =
  ({ events, secrets }: Deps): RemoveContents =>
  async (at, organizationId, limit) => {
    const { instanceId } = at;
    const aggregate = { type: organization.type, id: organizationId };
    const log = await events.read({ instanceId, aggregate, types: [asked] });
    const left: string[] = [];
    for (const id of new Set(log.map(({ payload }) => domainIdOf(payload as OwnDomain)))) {
      if (left.length === limit) break;
      if ((await secrets.open(tokenRef(instanceId, id))) !== undefined) left.push(id);
    }
    await events.transact(at, async (tx) => {
      tx.write(...left.map((id) => secrets.remove(tokenRef(instanceId, id))));
    });
    return left.length;
  };
