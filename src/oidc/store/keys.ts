import { whenKnown } from "../../awaitable.ts";
import { hostName } from "../../authz/host.ts";
import { type SigningAlgorithm, signingAlgorithms } from "../../crypto/signing-key.ts";
import type { Deps } from "../../projection/module.ts";
import { instanceReader } from "../../resources/instance/index.ts";
import { requireKeyOf, webKeyReader, webKeyMissing } from "../../resources/webkey/index.ts";
import type { Keys } from "../core/key-ports.ts";
import type { At } from "../core/ports.ts";
import { writtenBy } from "./write.ts";

const origin = "system:keys";

/** What an instance signs with: its web keys. */
export function keyStore(deps: Pick<Deps, "db" | "events" | "newId" | "secrets">): Keys {
  const reader = webKeyReader(deps);
  const domains = instanceReader(deps.db);

  // Keys come with the apps that ask for them; of apps of earlier releases, and where somebody removed one, with the token.
  async function makeKey(at: At, algorithm: SigningAlgorithm): Promise<void> {
    await deps.events.transact(writtenBy(at, origin, ""), (tx) =>
      requireKeyOf(deps, tx, algorithm),
    );
  }

  return {
    async signer(at, alg) {
      const { instanceId } = at;
      const known: SigningAlgorithm | undefined = signingAlgorithms.find((each) => each === alg);
      if (known === undefined) return reader.signer(instanceId);
      const fitting = await reader.signer(instanceId, known);
      if (fitting !== undefined) return fitting;
      await makeKey(at, known);
      // Another process may have made it a moment before.
      await deps.db.catchUp();
      const made = await reader.signer(instanceId, known);
      if (made !== undefined) return made;
      throw webKeyMissing(`instance ${instanceId} has no key of ${known}`);
    },
    publicKeys: ({ instanceId }) => reader.publicKeys(instanceId),
    isIssuer(at, issuer) {
      if (issuer === at.issuer) return true;
      if (!URL.canParse(issuer)) return false;
      const owner = domains.byDomain(hostName(new URL(issuer).host));
      return whenKnown(owner, (found) => found?.id === at.instanceId);
    },
  };
}
