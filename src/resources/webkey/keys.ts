import {
  algorithmOf,
  configOf,
  newSigningKey,
  type SigningAlgorithm,
  type SigningKey,
  type SigningKeyConfig,
} from "../../crypto/signing-key.ts";
import type { SecretRef } from "../../eventstore/secret-store.ts";
import { decideOn, type Transaction, type Written } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { activateWebKey, addWebKey, deactivateWebKey, removeWebKey, webKeys } from "./web-key.ts";

/** What every client can verify (OpenID Connect Core section 15.1). */
const defaultConfig: SigningKeyConfig = { type: "rsa", bits: 2048, hasher: "SHA256" };

/** The key that an instance begins with. It is made before the unit that adds it: that takes a tenth of a second. */
export const newDefaultWebKey = (): Promise<SigningKey> => newSigningKey(defaultConfig);

/** Where the private half of a key lies. */
export const privateKeyRef = (instanceId: string, id: string): SecretRef => ({
  instanceId,
  ownerType: "instance",
  ownerId: instanceId,
  kind: "web_key",
  id,
});

type Outcome = () => Written;
type Parts = Pick<Deps, "newId" | "secrets">;

/** Adds a key to the `count` that an instance has. */
async function begin(
  { newId, secrets }: Parts,
  tx: Transaction,
  instanceId: string,
  made: SigningKey,
  count: number,
) {
  const loaded = tx.begin(webKeys.aggregate, newId());
  const owner = { type: "instance", id: instanceId } as const;
  tx.record(webKeys.aggregate, loaded, addWebKey(made, count), owner);
  tx.write(await secrets.put(privateKeyRef(instanceId, loaded.id), made.privateKey, tx.now));
  return loaded;
}

/** Adds the first key of an instance, which signs at once: nobody has asked for its keys before. */
export async function addFirstWebKey(
  parts: Parts,
  tx: Transaction,
  instanceId: string,
  made: SigningKey,
): Promise<void> {
  const loaded = await begin(parts, tx, instanceId, made, 0);
  tx.record(webKeys.aggregate, loaded, activateWebKey(loaded.state));
}

/** Adds a key of an algorithm that an app asks for, where the instance has none of it. */
export async function requireKeyOf(
  deps: Pick<Deps, "db" | "newId" | "secrets">,
  tx: Transaction,
  algorithm: SigningAlgorithm,
): Promise<void> {
  const { instanceId } = tx.at;
  const rows = await rowsWhere(deps.db, webKeys.table, { instanceId });
  if (rows.some(({ config }) => algorithmOf(config) === algorithm)) return;
  // Of two at once the second finds the key of the first.
  tx.expectRows(webKeys.table, { instanceId }, rows.length);
  await webKeyChanges(deps).add(tx, instanceId, await newSigningKey(configOf(algorithm)));
}

/** The changes of the keys of one instance, each within a unit. */
export function webKeyChanges(deps: Parts & Pick<Deps, "db">) {
  const { db, secrets } = deps;
  return {
    /** Adds a key that signs nothing yet. */
    async add(tx: Transaction, instanceId: string, made: SigningKey): Promise<Outcome> {
      const rows = await rowsWhere(db, webKeys.table, { instanceId });
      tx.expectRows(webKeys.table, { instanceId }, rows.length);
      return tx.written(await begin(deps, tx, instanceId, made, rows.length));
    },

    /** Lets a key sign in the place of the one that does. */
    async activate(tx: Transaction, instanceId: string, id: string): Promise<Outcome> {
      const loaded = await decideOn(tx, webKeys.aggregate, id, activateWebKey);
      // Of two activations at once the second is decided anew: there is never more than one active key, nor none.
      for (const before of await allIds(db, tx, webKeys.table, { instanceId, state: "active" })) {
        await decideOn(tx, webKeys.aggregate, before, deactivateWebKey);
      }
      return tx.written(loaded);
    },

    /** Removes a key with its private half. */
    async remove(tx: Transaction, instanceId: string, id: string): Promise<Outcome> {
      const loaded = await decideOn(tx, webKeys.aggregate, id, removeWebKey);
      tx.write(secrets.remove(privateKeyRef(instanceId, id)));
      return tx.written(loaded);
    },
  };
}
