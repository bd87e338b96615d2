import type { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { newSigningKey } from "../../crypto/signing-key.ts";
import type { Transaction, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { toConfig, toGetWebKey } from "./convert.ts";
import { webKeyChanges } from "./keys.ts";
import { keysOf } from "./reader.ts";
import { requireRoom } from "./web-key.ts";

export function webKeyHandlers(deps: Deps): Handlers<typeof WebKeyService> {
  const { db } = deps;
  const changes = webKeyChanges(deps);
  const answer = answering(deps);

  return {
    async createWebKey({ key }, scope) {
      const { instanceId } = scope;
      // Asked before as well: nobody makes the service work for a key that it will refuse.
      requireRoom((await keysOf(db, instanceId)).length);
      const made = await newSigningKey(toConfig(key));
      return write(scope, (tx) => changes.add(tx, instanceId, made));
    },

    activateWebKey: ({ id }, scope) =>
      write(scope, (tx) => changes.activate(tx, scope.instanceId, id)),
    deleteWebKey: ({ id }, scope) => write(scope, (tx) => changes.remove(tx, scope.instanceId, id)),

    async listWebKeys(_, { instanceId }) {
      return { webKeys: (await keysOf(db, instanceId)).map(toGetWebKey) };
    },
  };

  function write(scope: Scope, decide: (tx: Transaction) => Promise<() => Written>) {
    return answer(writeContext(scope), async (tx) => ({ written: await decide(tx) }));
  }
}
