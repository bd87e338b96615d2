import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { toDetails } from "../../object/details.ts";
import {
  authenticatorsOf,
  requireAny,
  requireHeld,
  requireRoom,
} from "../authenticator/authenticators.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { newClientKeys } from "../../../crypto/client-key.ts";
import { requireClientKey } from "../../object/client-key.ts";
import { toExpiration } from "../../object/expiration.ts";
import { idGuard } from "../free-id.ts";
import { requireMachine } from "../person.ts";
import { user, userNotFound } from "../user.ts";
import { machineSecretRef, newMachineSecret } from "./secret.ts";

export type MachineMethods = "addPublicKey" | "removePublicKey" | "setSecret" | "removeSecret";

export function machineHandlers({
  deps,
}: Credentials): Pick<Handlers<typeof UserService>, MachineMethods> {
  const { events, secrets, newId, now } = deps;
  const ids = idGuard(deps);

  return {
    async addPublicKey({ id, key }, scope) {
      const given = key?.publicKey;
      const expiresAt = toExpiration(key?.expirationDate, now(), "key.expiration_date");
      const publicKey = given === undefined ? undefined : requireClientKey(given, "key.public_key");
      // Before a key is made, which costs: what is refused anyway gets none.
      const { state: first } = await events.load(user, scope.instanceId, id);
      requireMachine(first);
      requireRoom(first.authenticators, "key");
      const pair = publicKey === undefined ? await newClientKeys() : { publicKey };
      const expirationDate = expiresAt?.toISOString();
      const keyId = newId();
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requireMachine(loaded.state);
        requireRoom(loaded.state.authenticators, "key");
        const added = { keyId, publicKey: pair.publicKey, expirationDate };
        tx.record(user, loaded, [userEvents["machine.key.added"](added)]);
        return tx.written(loaded);
      });
      const made = { details: toDetails(written()), keyId };
      if (!("privateKey" in pair)) return made;
      const file = { type: "serviceaccount", keyId, key: pair.privateKey, userId: id };
      return {
        ...made,
        keyFile: expirationDate === undefined ? file : { ...file, expirationDate },
      };
    },

    async removePublicKey({ id, keyId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireHeld(loaded.state.authenticators, "key", keyId);
        tx.record(user, loaded, [userEvents["machine.key.removed"]({ keyId })]);
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async setSecret({ id }, scope) {
      const at = { instanceId: scope.instanceId, userId: id };
      const [written, made] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requireMachine(loaded.state);
        const clientId = loaded.state.username;
        const [before] = authenticatorsOf(loaded.state.authenticators, "secret");
        // What an older store has stays, also with a new secret.
        if (before?.address !== clientId) await ids.requireNoId(tx, scope.instanceId, clientId);
        tx.record(user, loaded, [userEvents["machine.secret.set"]({ clientId })]);
        const { clientSecret, change } = await newMachineSecret(secrets, at, tx.now);
        tx.write(change);
        return [tx.written(loaded), { clientId, clientSecret }];
      });
      return { details: toDetails(written()), ...made };
    },

    async removeSecret({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireAny(loaded.state.authenticators, "secret");
        tx.record(user, loaded, [userEvents["machine.secret.removed"]({})]);
        tx.write(secrets.remove(machineSecretRef({ instanceId: scope.instanceId, userId: id })));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}
