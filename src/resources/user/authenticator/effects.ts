import type { JsonObject } from "@bufbuild/protobuf";
import { type Payload, payload, type PayloadRules } from "../../../eventstore/event.ts";
import type { Authenticator, AuthenticatorKind } from "./authenticators.ts";

/** What a row holds beside what the fold of the user knows; see `userAuthenticators`. */
type MoreColumns = Partial<{
  isMarked: boolean;
  label: string;
  lookup: string;
  number: number;
  details: JsonObject;
}>;

type Does<P> =
  | { does: "add"; is: (payload: P) => Partial<Authenticator>; row: (payload: P) => MoreColumns }
  | { does: "verify"; isVerified: boolean }
  | { does: "rename"; label: (payload: P) => string }
  | { does: "remove" };

/** What an event does to one of the authenticators of a user: in the fold of the user, and in the rows. */
export type Effect<P> = { kind: AuthenticatorKind; id: (payload: P) => string } & Does<P>;

/** What an event carries, and what it does. */
export type AuthenticatorFact<P> = Payload<P> & { effect: Effect<P> | undefined };

/** Declares events of authenticators of one kind, of which the payload names one by its id. */
export function factsOf<P>(kind: AuthenticatorKind, id: (payload: P) => string) {
  const fact = <Q extends P>(does: Does<Q>, rules: PayloadRules<Q> = {}): AuthenticatorFact<Q> => ({
    ...payload<Q>(rules),
    effect: { kind, id, ...does },
  });
  return {
    added: <Q extends P>({
      is = () => ({}),
      row = () => ({}),
      ...rules
    }: PayloadRules<Q> & {
      /** What it is beside not verified. */
      is?: (payload: Q) => Partial<Authenticator>;
      row?: (payload: Q) => MoreColumns;
    } = {}) => fact<Q>({ does: "add", is, row }, rules),
    renamed: <Q extends P>(label: (payload: Q) => string, rules?: PayloadRules<Q>) =>
      fact<Q>({ does: "rename", label }, rules),
    verified: () => fact<P>({ does: "verify", isVerified: true }),
    suspended: () => fact<P>({ does: "verify", isVerified: false }),
    removed: <Q extends P = P>(rules?: PayloadRules<Q>) => fact<Q>({ does: "remove" }, rules),
  };
}
