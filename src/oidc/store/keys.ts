import { whenKnown } from "../../awaitable.ts";
import { hostName } from "../../authz/host.ts";
import { type SigningAlgorithm, signingAlgorithms } from "../../crypto/signing-key.ts";
import type { DomainError } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { instanceReader } from "../../resources/instance/index.ts";
import type { Keys, Signer } from "../core/key-ports.ts";
import type { At } from "../core/ports.ts";
import { writtenBy } from "./write.ts";

const origin = "system:keys";

/** The web keys of instances, which others keep. */
export type KeyPorts = {
  webKeys: {
    publicKeys(instanceId: string): ReturnType<Keys["publicKeys"]>;
    /** The active key; with an algorithm the key of it, undefined where there is none. */
    signer(instanceId: string): Promise<Signer>;
    signer(instanceId: string, algorithm: SigningAlgorithm): Promise<Signer | undefined>;
    /** Adds a key of an algorithm, where the instance has none of it. */
    require(tx: Transaction, algorithm: SigningAlgorithm): Promise<void>;
    missing(instanceId: string, algorithm: SigningAlgorithm): DomainError;
  };
};

/** What an instance signs with: its web keys. */
export function keyStore({ db, events, webKeys }: Pick<Deps, "db" | "events"> & KeyPorts): Keys {
  const domains = instanceReader(db);

  // Keys come with the apps that ask for them; of apps of earlier releases, and where somebody removed one, with the token.
  async function makeKey(at: At, algorithm: SigningAlgorithm): Promise<void> {
    await events.transact(writtenBy(at, origin, ""), (tx) => webKeys.require(tx, algorithm));
  }

  return {
    async signer(at, alg) {
      const { instanceId } = at;
      const known: SigningAlgorithm | undefined = signingAlgorithms.find((each) => each === alg);
      if (known === undefined) return webKeys.signer(instanceId);
      const fitting = await webKeys.signer(instanceId, known);
      if (fitting !== undefined) return fitting;
      await makeKey(at, known);
      // Another process may have made it a moment before.
      await db.catchUp();
      const made = await webKeys.signer(instanceId, known);
      if (made !== undefined) return made;
      throw webKeys.missing(instanceId, known);
    },
    publicKeys: ({ instanceId }) => webKeys.publicKeys(instanceId),
    isIssuer(at, issuer) {
      if (issuer === at.issuer) return true;
      if (!URL.canParse(issuer)) return false;
      const owner = domains.byDomain(hostName(new URL(issuer).host));
      return whenKnown(owner, (found) => found?.id === at.instanceId);
    },
  };
}
