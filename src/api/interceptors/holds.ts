import { coversEverybody, requireCover, userOutranksCaller } from "../../authz/holds.ts";
import type { Held } from "../../authz/holds.ts";
import { requireNamedHold } from "../../authz/limited.ts";
import { ownCredentials } from "../../authz/roles.ts";
import type { ServiceBinding } from "../../authz/service.ts";
import type { InterceptorFactory } from "../call.ts";
import { scopeOf } from "../scope.ts";
import type { Ports } from "./index.ts";

/**
 * Judges holds on users (authority J1, option `holds`): only who covers the users whom the request holds goes on. It is
 * judged once more in each unit that the call writes, together with what a user came to hold meanwhile.
 *
 * @throws PERMISSION_DENIED USER_OUTRANKS_CALLER, TOKEN_WITHOUT_HOLD
 */
export const holds =
  ({ powers }: Ports, binding: ServiceBinding): InterceptorFactory =>
  ({ method, holds: kind, policy: { act, onInstance } }) => {
    if (kind === undefined) return undefined;
    const heldBy = binding.held?.[method.localName] ?? byId;
    return {
      async check(call) {
        const scope = scopeOf(call);
        // System permissions name what their holders may do in every instance.
        if (scope.caller.kind === "system") return;
        const { limit } = scope.caller;
        if (kind === "everybody") {
          requireNamedHold(limit, onInstance, { type: "instance" });
          if (!coversEverybody(scope.permissions)) throw userOutranksCaller();
          return;
        }
        const { instanceId } = scope;
        if (kind === "usersOfOrganization") {
          const { id } = call.request as unknown as { id: string };
          requireNamedHold(limit, act, { type: "organization", id });
          requireCover(scope.permissions, await powers.ofOrganization(instanceId, id), "shutOut");
          call.guard = async (tx) => {
            const power = await powers.holdOrganization(tx, instanceId, id);
            requireCover(scope.permissions, power, "shutOut");
          };
          return;
        }
        const { userId: callerId } = scope.caller;
        const all = await heldBy(call.request as never, scope);
        const others = all.filter(({ userId }) => userId !== callerId);
        if (others.length < all.length) {
          requireNamedHold(limit, ownCredentials, { type: "instance" });
        }
        if (others.length === 0) return;
        const asked = others.map(({ userId, kind: own }) => ({
          userId,
          as: own ?? (kind === "shutOut" ? "shutOut" : "takeOver"),
        }));
        for (const { userId, as } of asked) {
          const power = await powers.ofUser(instanceId, userId);
          requireNamedHold(limit, act, { type: "organization", id: power.organizationId });
          requireCover(scope.permissions, power, as);
        }
        call.guard = async (tx) => {
          for (const { userId, as } of asked) {
            const power = await powers.holdUser(tx, instanceId, userId);
            requireCover(scope.permissions, power, as);
          }
        };
      },
    };
  };

// The user that the request names: validation requires the field.
const byId = (request: { id: string }): readonly Held[] => [{ userId: request.id }];
