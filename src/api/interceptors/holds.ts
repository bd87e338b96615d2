import { coversEverybody, requireCover, userOutranksCaller, type Held } from "../../authz/holds.ts";
import { requireNamedHold } from "../../authz/limited.ts";
import { ownCredentials } from "../../authz/roles.ts";
import type { ServiceBinding } from "../../authz/service.ts";
import type { Scope } from "../../authz/context.ts";
import type { InterceptorFactory } from "../call.ts";
import { scopeOf } from "../scope.ts";
import type { Ports } from "./index.ts";

type Unit = Parameters<NonNullable<Scope["guard"]>>[0];

/**
 * Judges holds on users (J1, option `holds`): only who covers the users whom the request holds goes on. It is
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
        const usual = kind === "shutOut" ? "shutOut" : "takeOver";
        // What a request is a hold on may follow from what the user has just then: with `tx` at the commit.
        const judge = async (tx?: Unit): Promise<void> => {
          for (const { userId, kind: own } of await heldBy(call.request as never, scope, tx)) {
            if (userId === callerId) {
              requireNamedHold(limit, ownCredentials, { type: "instance" });
              continue;
            }
            const power = await (tx === undefined
              ? powers.ofUser(instanceId, userId)
              : powers.holdUser(tx, instanceId, userId));
            requireNamedHold(limit, act, { type: "organization", id: power.organizationId });
            requireCover(scope.permissions, power, own ?? usual);
          }
        };
        await judge();
        call.guard = judge;
      },
    };
  };

// The user that the request names: validation requires the field.
const byId = (request: { id: string }): readonly Held[] => [{ userId: request.id }];
