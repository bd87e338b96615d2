import type { Message } from "@bufbuild/protobuf";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { givenFields, newConfig } from "./config.ts";
import type { IdpOptions } from "./events.ts";
import { createIdp, idp, type IdpState } from "./idp.ts";
import { type IdpType, type ProviderType, providerTypes } from "./provider-types.ts";
import { givenSecret, idpSecretRef, madeSecret } from "./secret.ts";

export type NewIdp = {
  name: string;
  statePolicy: StatePolicy;
  options: IdpOptions;
  mark?: string;
  /** The message of the configuration of the type, with its secret. */
  config: Message;
};

/**
 * Prepares a new provider; what it gives adds it in every try of a unit, under a new id or one that nothing had before.
 *
 * @throws INVALID_ARGUMENT IDP_PRIVATE_KEY_INVALID and what addresses are refused for
 */
export function idpAdder({
  secrets,
  newId,
  checkUrl,
}: Pick<Deps, "secrets" | "newId" | "checkUrl">) {
  return (type: IdpType, wanted: NewIdp) => {
    const definition: ProviderType = providerTypes[type];
    requireAllowed(checkUrl, definition, wanted.config);
    const config = newConfig(definition, wanted.config);
    const given = givenSecret(type, wanted.config);
    let secret: Promise<Uint8Array | undefined> | undefined;

    return async (
      tx: Transaction,
      instanceId: string,
      owner: OwnerRef,
      id?: string,
    ): Promise<Loaded<IdpState | undefined>> => {
      const loaded = id === undefined ? tx.begin(idp, newId()) : await tx.load(idp, id);
      const { statePolicy, options, mark = "" } = wanted;
      const made = await (secret ??= madeSecret(type).then((key) => key ?? given));
      const name = wanted.name || definition.title;
      const facts = { name, statePolicy, options, config, mark, hasSecret: made !== undefined };
      const level = owner.type === "org" ? "org" : "instance";
      tx.record(idp, loaded, createIdp(level, type, facts), owner);
      if (made !== undefined) {
        tx.write(await secrets.put(idpSecretRef(instanceId, loaded.id), made, tx.now));
      }
      return loaded;
    };
  };
}

/** The addresses that the service itself calls must be allowed (X13). */
export function requireAllowed(
  checkUrl: Deps["checkUrl"],
  { urls, ...type }: ProviderType,
  config: Message,
): void {
  const schema = config.$typeName === type.config.typeName ? type.config : type.patch;
  const given = givenFields(schema, config);
  for (const url of urls) {
    if (typeof given[url] === "string") checkUrl(given[url], `idp.config.${url}`);
  }
}
