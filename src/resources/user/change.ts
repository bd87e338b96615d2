import { type Scope, writeContext } from "../../authz/context.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import type { UserEvent } from "./events.ts";
import { requireThere, type User, user } from "./user.ts";
import type { UserRef } from "./user-ref.ts";

/** A user in a unit that changes them. */
export type UserInUnit = {
  tx: Transaction;
  /** Its state is up to what was recorded. */
  loaded: Loaded<User | undefined>;
  ref: UserRef;
  record(happened: UserEvent[]): void;
};

export const inUnit = (tx: Transaction, loaded: Loaded<User | undefined>): UserInUnit => ({
  tx,
  loaded,
  ref: { instanceId: tx.at.instanceId, userId: loaded.id },
  record: (happened) => tx.record(user, loaded, happened),
});

/**
 * Changes the user that a call names in one unit, and answers with their details and what else the change gives.
 * `state` is what the user was before.
 *
 * @throws NOT_FOUND USER_NOT_FOUND
 */
export const changingUser =
  (deps: Pick<Deps, "events">) =>
  <R extends object | void>(
    scope: Scope,
    id: string,
    change: (one: UserInUnit & { state: User }) => Awaitable<R>,
  ) =>
    answering(deps)(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      const state = requireThere(loaded.state);
      const given = await change({ ...inUnit(tx, loaded), state });
      return { written: tx.written(loaded), ...given };
    });
