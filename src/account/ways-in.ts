import type { Authenticators } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Own } from "./own.ts";

/** What the person signs in with. */
export async function waysIn({ call, user: { id } }: Own): Promise<Authenticators | undefined> {
  const { user } = await call(UserService.method.getUser, { id });
  return user?.user?.authenticators;
}

/** Whether nothing else of what they have stands alone at a log-in. Asked before it is taken away, lest it is by mistake. */
export function isLastWayIn(
  ways: Authenticators | undefined,
  removed: { webAuthNId: string } | { idpId: string },
): boolean {
  if (ways === undefined || ways.password !== undefined) return false;
  const passkeys = ways.webAuthN.filter(
    ({ isVerified, userVerified }) => isVerified && userVerified,
  );
  const links = ways.identityProviders.filter(({ suspended }) => !suspended);
  const all = [...passkeys.map(({ webAuthNId }) => webAuthNId), ...links.map(({ idpId }) => idpId)];
  return all.length === 1 && all[0] === ("idpId" in removed ? removed.idpId : removed.webAuthNId);
}
