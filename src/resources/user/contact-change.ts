import type { Scope } from "../../authz/context.ts";
import { callerId } from "../../authz/tenancy.ts";
import type { UserInUnit } from "./change.ts";
import { emailVerification, initialization, phoneVerification } from "./code-kinds.ts";
import { type Codes, type Delivery } from "./codes.ts";
import { type MarkProof, type Reach, userEvents } from "./events.ts";
import { addressOf, announceCode, changeContact, type ContactKind } from "./contact.ts";
import type { WantedContact } from "./convert.ts";
import { requireThere, userNotFound } from "./user.ts";
import { requireVouching } from "./vouch.ts";

export const codeKinds = { email: emailVerification, phone: phoneVerification } as const;

/**
 * Sets a contact of a user, and makes the code that proves it unless it is known to be theirs. What somebody sets in the place of a
 * contact of their own that is proven counts once it is proven too: until then the one before stays (L1).
 *
 * @returns the code, where the caller asked to be told
 * @throws PERMISSION_DENIED PROOF_FOR_ONESELF, PERMISSION_MISSING
 */
export async function setContact(
  codes: Codes,
  one: UserInUnit,
  { kind, address, proof, urlTemplate }: WantedContact,
  scope: Scope,
): Promise<string | undefined> {
  const { tx, ref, loaded } = one;
  if (loaded.state === undefined) throw userNotFound();
  const { userId } = ref;
  const mark: Reach & MarkProof =
    proof === "sent" ? {} : requireVouching(scope, { ...loaded.state, userId });
  const isVerified = proof === "known";
  const earlier = loaded.state[kind];
  const isOther = addressOf(loaded.state, kind) !== address;
  const delivery =
    proof === "returned" ? proof : ({ channel: channelOf[kind], urlTemplate } as const);
  if (isOther && proof === "sent" && earlier?.isVerified && callerId(scope) === userId) {
    return issueCode(codes, one, kind, { address, delivery, reach: undefined });
  }
  // What was asked for before is no longer wanted.
  if (isOther && earlier !== undefined) tx.write(codes.drop(ref, codeKinds[kind]));
  one.record(changeContact(loaded.state, kind, { address, isVerified, ...mark }));
  const now = requireThere(loaded.state)[kind];
  if (isVerified || (now?.isVerified === true && proof === "sent")) return undefined;
  // The same address, still to be proven: the code that was sent holds, unless another one is asked for.
  if (earlier === now && proof === "sent") return undefined;
  return issueCode(codes, one, kind, { address, delivery, reach: mark.reach });
}

export const channelOf = { email: "email", phone: "sms" } as const;

type Issued = {
  address: string;
  delivery: Delivery;
  /** How far the word of the caller reaches, where they are told the code. */
  reach: Reach["reach"] | undefined;
};

/** Makes another code for a contact; the one before no longer counts. */
export async function issueCode(
  codes: Codes,
  { tx, ref, record }: UserInUnit,
  kind: ContactKind,
  { address, delivery, reach }: Issued,
): Promise<string | undefined> {
  const asked = { subject: address, delivery, ...(reach === undefined ? {} : { reach }) };
  const code = await codes.issue(tx, ref, codeKinds[kind], asked);
  record(announceCode(kind));
  return code;
}

/**
 * Invites a new person who has nothing to log in with: one code proves the mailbox and lets them set their first password,
 * so no other one is sent there.
 */
export async function invite(codes: Codes, one: UserInUnit): Promise<void> {
  const subject = one.loaded.state?.email?.address;
  if (subject === undefined) return;
  await codes.issue(one.tx, one.ref, initialization, { subject, delivery: { channel: "email" } });
  one.record([userEvents["human.initialization.code.added"]({})]);
}
