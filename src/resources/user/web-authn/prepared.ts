import { failedPrecondition } from "../../../errors.ts";
import type { Reaction } from "../../../eventstore/settle.ts";
import type { LoginPolicy } from "../../../settings/policy/login.ts";
import { type Authenticator, authenticatorsOf } from "../authenticator/authenticators.ts";
import { endOf } from "../authenticator/removal.ts";
import { user } from "../user.ts";

/**
 * A passkey that a browser made by itself right after a log-in by password (decision 0334). It is not verified, and so counts for
 * nothing and is asked of nobody, until a log-in by it has verified its user.
 */
const preparedOf = (authenticators: readonly Authenticator[]): Authenticator[] =>
  authenticatorsOf(authenticators, "web_authn").filter(({ isVerified }) => !isVerified);

type Kinds = readonly { kind: string }[];

/** Why a browser may make no passkey by itself for a user; undefined where it may. */
export function unpreparable(
  { preparePasskeys }: Pick<LoginPolicy, "preparePasskeys">,
  authenticators: Kinds,
): "off" | "needless" | undefined {
  if (!preparePasskeys) return "off";
  return authenticators.some(({ kind }) => kind === "web_authn") ? "needless" : undefined;
}

/** @throws FAILED_PRECONDITION CONDITIONAL_CREATE_OFF, CONDITIONAL_CREATE_NEEDLESS */
export function requirePreparable(policy: LoginPolicy, authenticators: Kinds): void {
  const why = unpreparable(policy, authenticators);
  if (why === "off") {
    throw failedPrecondition(
      "CONDITIONAL_CREATE_OFF",
      "the login settings let no browser make a passkey by itself: `prepare_passkeys` and `passkeys_allowed` are to be on",
    );
  }
  if (why === "needless") {
    throw failedPrecondition(
      "CONDITIONAL_CREATE_NEEDLESS",
      "the user has a passkey or a security key: let them add another one by themselves",
    );
  }
}

/** What came of a log-in by password goes with that password, until its owner has used it. */
export const preparedGoWithPassword: Reaction = {
  to: ["user.human.password.changed", "user.human.password.removed"],
  async react(tx, happened) {
    for (const id of new Set(happened.map(({ aggregateId }) => aggregateId))) {
      const loaded = await tx.load(user, id);
      const ended = preparedOf(loaded.state?.authenticators ?? []);
      tx.record(user, loaded, ended.map(endOf));
    }
  },
};
