import { alreadyExists } from "../../../errors.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { authenticatorsOf, requireHeld } from "../authenticator/authenticators.ts";
import type { IdpLink } from "../authenticator/events.ts";
import { type UserEvent, userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { type User, user, userNotFound } from "../user.ts";

/**
 * Links an account at a provider to a person. That the account is nobody else's, its claim sees to.
 *
 * @throws ALREADY_EXISTS IDP_LINK_EXISTS, IDP_LINK_TAKEN; FAILED_PRECONDITION USER_IS_MACHINE
 */
export function addIdpLink(
  state: User | undefined,
  link: IdpLink & { username: string },
): UserEvent[] {
  requirePerson(state);
  const [linked] = authenticatorsOf(state.authenticators, "idp").filter(
    ({ id }) => id === link.idpId,
  );
  // A link that was suspended is made anew by who proved themselves in another way.
  if (linked?.isVerified === false) {
    return linked.address === link.externalUserId
      ? [userEvents["human.externalidp.confirmed"]({ idpId: link.idpId })]
      : [...removeIdpLink(state, link.idpId), userEvents["human.externalidp.added"](link)];
  }
  if (linked !== undefined) {
    throw alreadyExists(
      "IDP_LINK_EXISTS",
      "the user has an account of the provider linked: remove that link first",
    );
  }
  return [userEvents["human.externalidp.added"](link)];
}

/** @throws NOT_FOUND IDP_LINK_NOT_FOUND */
export function removeIdpLink(
  state: User | undefined,
  idpId: string,
  why: "removed" | "cascade.removed" = "removed",
): UserEvent[] {
  if (state === undefined) throw userNotFound();
  const { address: externalUserId } = requireHeld(state.authenticators, "idp", idpId);
  return [userEvents[`human.externalidp.${why}`]({ idpId, externalUserId })];
}

/** Links an account in a unit that has more to do. */
export async function linkIdp(
  tx: Transaction,
  userId: string,
  link: IdpLink & { username: string },
): Promise<Loaded<User | undefined>> {
  const loaded = await tx.load(user, userId);
  tx.record(user, loaded, addIdpLink(loaded.state, link));
  return loaded;
}
