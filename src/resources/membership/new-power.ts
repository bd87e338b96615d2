import { type UserDeps, cleanHands, type UserHold } from "../user/index.ts";
import { isOfService } from "../../authz/context.ts";
import { coversUser } from "../../authz/holds.ts";
import type { NewMember } from "../../authz/ports.ts";
import { permissionsFrom } from "../../authz/permissions.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { asMembership } from "./member-context.ts";
import { powerReader } from "./power.ts";

/**
 * What happens when a membership brings its user to power (J20), in the unit that gives it: what others made on
 * the account ends unless they cover what the user may do from now on, or the giver keeps it.
 */
export function newPower(deps: UserDeps) {
  const powers = powerReader(deps);
  const clean = cleanHands(deps);
  return async (
    tx: Transaction,
    instanceId: string,
    given: NewMember | undefined,
    keep: readonly string[],
  ): Promise<UserHold[]> => {
    if (given === undefined) return [];
    const { userId } = given;
    const before = await powers.holdUser(tx, instanceId, userId);
    const power = { ...before, memberships: [...before.memberships, asMembership(given)] };
    const isTrusted = async (makerId: string) => {
      if (await isOfService(tx, makerId)) return true;
      const maker = await powers.holdUser(tx, instanceId, makerId);
      return coversUser(permissionsFrom(maker.memberships), power);
    };
    return clean(tx, { instanceId, userId }, { isTrusted, keep });
  };
}
