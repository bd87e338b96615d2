import { failedPrecondition } from "../../errors.ts";
import { type MarkProof, type Reach, type UserEvent, userEvents } from "./events.ts";
import { type User, userNotFound } from "./user.ts";

/** The two ways to reach a user, which change and are proven alike. */
export type ContactKind = "email" | "phone";

export const addressOf = (state: User, kind: ContactKind): string | undefined =>
  kind === "email" ? state.email?.address : state.phone?.number;

/** Another address is unproven until it is verified; the same one proven stays proven. */
export function changeContact(
  state: User | undefined,
  kind: ContactKind,
  wanted: Reach & MarkProof & { address: string; isVerified: boolean },
): UserEvent[] {
  if (state === undefined) throw userNotFound();
  const { address, isVerified, reach, proof } = wanted;
  const same = addressOf(state, kind) === address;
  const changed = same ? [] : [contactChanged(kind, address)];
  // Whoever vouches for less takes nothing from a mark that is there.
  const known = same && state[kind]?.isVerified === true ? state[kind] : undefined;
  const isNews = known === undefined || (known.reach !== undefined && reach === undefined);
  return isVerified && isNews ? [...changed, verified(kind, { reach, proof })] : changed;
}

/** Sets an address, which is to be proven again where it is the same one. */
export const contactChanged = (kind: ContactKind, address: string): UserEvent =>
  kind === "email"
    ? userEvents["human.email.changed"]({ address })
    : userEvents["human.phone.changed"]({ number: address });

type Mark = { [K in keyof (Reach & MarkProof)]: (Reach & MarkProof)[K] | undefined };

function verified(kind: ContactKind, { reach, proof }: Mark): UserEvent {
  const vouched = {
    ...(reach === undefined ? {} : { reach }),
    ...(proof === undefined ? {} : { proof }),
  };
  return userEvents[`human.${kind}.verified`](vouched);
}

/** A code proves as much as whoever was told it may vouch for; one that was sent, that the address is theirs. */
export const verifyContact = (kind: ContactKind, { reach }: Reach): UserEvent[] => [
  verified(kind, { reach, proof: "code" }),
];

export const failContact = (kind: ContactKind): UserEvent[] => [
  userEvents[`human.${kind}.verification.failed`]({}),
];

export const announceCode = (kind: ContactKind): UserEvent[] => [
  userEvents[`human.${kind}.code.added`]({}),
];

/** @throws FAILED_PRECONDITION CONTACT_MISSING where there is nothing to send a code to */
export function requireContact(state: User, kind: ContactKind): void {
  if (addressOf(state, kind) !== undefined) return;
  throw failedPrecondition("CONTACT_MISSING", `the user has no ${kind} to send a code to`);
}

/** @throws FAILED_PRECONDITION CONTACT_MISSING, CONTACT_VERIFIED */
export function requireUnproven(state: User | undefined, kind: ContactKind): asserts state is User {
  if (state === undefined) throw userNotFound();
  const contact = state[kind];
  if (contact === undefined) {
    throw failedPrecondition("CONTACT_MISSING", `the user has no ${kind} to verify`);
  }
  if (contact.isVerified && contact.reach === undefined) {
    throw failedPrecondition("CONTACT_VERIFIED", `the ${kind} is verified already`);
  }
}
