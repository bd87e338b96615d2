import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { Database } from "../../storage/database.ts";
import type { ProviderConfig } from "./kind.ts";
import { inForceReader } from "./in-force.ts";
import type { ProviderStorage } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";
import { providerSecretRef } from "./secret.ts";

/** A provider with its secret. */
export type UsableProvider<C> = { id: string; config: C; secret: Uint8Array };

/**
 * Reads providers as they are, for who sends by them: sending is rare and slow beside it, so nothing is cached.
 *
 * @param toProvider what who sends needs of one
 */
export function providerReader<C extends ProviderConfig, P>(
  { db, secrets }: { db: Database; secrets: SecretStore },
  storage: ProviderStorage<C>,
  toProvider: (found: UsableProvider<C>) => P,
) {
  const inForce = inForceReader(db, storage);
  const nothing = new Uint8Array();

  async function use({ id, instanceId, config }: ProviderRow<C>): Promise<P> {
    const secret = await secrets.open(providerSecretRef(storage.kind, instanceId, id));
    return toProvider({ id, config, secret: secret ?? nothing });
  }

  return {
    /** The provider that sends for an instance, if there is one. */
    async inForce(instanceId: string): Promise<P | undefined> {
      const row = await inForce({ type: "instance", id: instanceId });
      return row && use(row);
    },
    /** A certain one, in force or not. */
    use,
  };
}
