import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { toDetails } from "../../object/details.ts";
import { requireAny } from "../authenticator/authenticators.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { user, userNotFound } from "../user.ts";
import { recoveryCodeCount } from "./recovery.ts";

export type RecoveryMethods = "generateRecoveryCodes" | "removeRecoveryCodes";

export function recoveryHandlers({
  deps,
  recoveryCodes,
}: Credentials): Pick<Handlers<typeof UserService>, RecoveryMethods> {
  const { events } = deps;

  return {
    async generateRecoveryCodes({ id }, scope) {
      const [written, codes] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requirePerson(loaded.state);
        const count = recoveryCodeCount;
        tx.record(user, loaded, [userEvents["human.mfa.recovery_codes.added"]({ count })]);
        const at = { instanceId: scope.instanceId, userId: id };
        const made = await recoveryCodes.make(at, tx.now);
        tx.write(...made.changes);
        return [tx.written(loaded), made.codes];
      });
      return { details: toDetails(written()), recoveryCodes: codes };
    },

    async removeRecoveryCodes({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireAny(loaded.state.authenticators, "recovery_codes");
        tx.record(user, loaded, [userEvents["human.mfa.recovery_codes.removed"]({})]);
        tx.write(recoveryCodes.remove({ instanceId: scope.instanceId, userId: id }));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}
