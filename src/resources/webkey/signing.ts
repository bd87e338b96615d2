import type { SigningAlgorithm } from "../../crypto/signing-key.ts";
import type { DomainError } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { requireKeyOf } from "./keys.ts";
import { webKeyMissing, type WebKeyReader, webKeyReader } from "./reader.ts";

/** What whoever issues tokens asks of the keys of instances. */
export type WebKeys = WebKeyReader & {
  /** Adds a key of an algorithm, where the instance has none of it. */
  require(tx: Transaction, algorithm: SigningAlgorithm): Promise<void>;
  missing(instanceId: string, algorithm: SigningAlgorithm): DomainError;
};

export const webKeysOf = (deps: Pick<Deps, "db" | "newId" | "secrets">): WebKeys => ({
  ...webKeyReader(deps),
  require: (tx, algorithm) => requireKeyOf(deps, tx, algorithm),
  missing: (instanceId, algorithm) =>
    webKeyMissing(`instance ${instanceId} has no key of ${algorithm}`),
});
