import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Handlers } from "../../../authz/service.ts";
import { authenticatorsOf, requireRoom } from "../authenticator/authenticators.ts";
import { changingUser } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { newClientKeys } from "../../../crypto/client-key.ts";
import { requireClientKey } from "../../object/client-key.ts";
import { newClientSecret } from "../../object/new-secret.ts";
import { toExpiration } from "../../object/expiration.ts";
import { idGuard } from "../free-id.ts";
import { requireMachine } from "../person.ts";
import { type User, user } from "../user.ts";
import { machineSecretRef } from "./credentials.ts";

export function machineHandlers({ deps }: Credentials) {
  const { events, secrets, newId, now } = deps;
  const ids = idGuard(deps);
  const change = changingUser(deps);

  return {
    async addPublicKey({ id, key }, scope) {
      const given = key?.publicKey;
      const expiresAt = toExpiration(key?.expirationDate, now(), "key.expiration_date");
      const publicKey = given === undefined ? undefined : requireClientKey(given, "key.public_key");
      // Before a key is made, which costs: what is refused anyway gets none.
      requireRoomForKey((await events.load(user, scope.instanceId, id)).state);
      const pair = publicKey === undefined ? await newClientKeys() : { publicKey };
      const expirationDate = expiresAt?.toISOString();
      const keyId = newId();
      const made = await change(scope, id, ({ state, record }) => {
        requireRoomForKey(state);
        const added = { keyId, publicKey: pair.publicKey, expirationDate };
        record([userEvents["machine.key.added"](added)]);
        return { keyId };
      });
      if (!("privateKey" in pair)) return made;
      const file = { type: "serviceaccount", keyId, key: pair.privateKey, userId: id };
      return {
        ...made,
        keyFile: expirationDate === undefined ? file : { ...file, expirationDate },
      };
    },

    setSecret: ({ id }, scope) =>
      change(scope, id, async ({ tx, ref, state, record }) => {
        requireMachine(state);
        const clientId = state.username;
        const [before] = authenticatorsOf(state.authenticators, "secret");
        // What an older store has stays, also with a new secret.
        if (before?.address !== clientId) await ids.requireNoId(tx, scope.instanceId, clientId);
        record([userEvents["machine.secret.set"]({ clientId })]);
        return { clientId, ...(await newClientSecret(tx, secrets, machineSecretRef(ref))) };
      }),
  } satisfies Partial<Handlers<typeof UserService>>;
}

function requireRoomForKey(state: User | undefined): void {
  requireMachine(state);
  requireRoom(state.authenticators, "key");
}
