import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { Database } from "../../storage/database.ts";
import type { ProviderConfig } from "./kind.ts";
import { inForceReader } from "./in-force.ts";
import type { ProviderStorage } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";
import { providerSecretRef } from "./secret.ts";

/** A provider with its secret, for who sends by it. */
export type UsableProvider<C> = { id: string; config: C; secret: Uint8Array };

/** Reads providers as they are: sending is rare and slow beside it, so nothing is cached. */
export function providerReader<C extends ProviderConfig>(
  { db, secrets }: { db: Database; secrets: SecretStore },
  storage: ProviderStorage<C>,
) {
  const inForce = inForceReader(db, storage);
  const nothing = new Uint8Array();

  async function use({ id, instanceId, config }: ProviderRow<C>): Promise<UsableProvider<C>> {
    const secret = await secrets.open(providerSecretRef(storage.kind, instanceId, id));
    return { id, config, secret: secret ?? nothing };
  }

  return {
    /** The provider that sends for an instance, if there is one. */
    async inForce(instanceId: string): Promise<UsableProvider<C> | undefined> {
      const row = await inForce({ type: "instance", id: instanceId });
      return row && use(row);
    },
    use,
  };
}
