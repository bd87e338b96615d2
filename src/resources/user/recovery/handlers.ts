import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Handlers } from "../../../authz/service.ts";
import { changingUser } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";

export function recoveryHandlers({ deps, recoveryCodes }: Credentials) {
  const change = changingUser(deps);
  return {
    generateRecoveryCodes: ({ id }, scope) =>
      change(scope, id, async ({ tx, ref, state, record }) => {
        requirePerson(state);
        const { codes, changes } = await recoveryCodes.make(ref, tx.now);
        record([userEvents["human.mfa.recovery_codes.added"]({ count: codes.length })]);
        tx.write(...changes);
        return { recoveryCodes: codes };
      }),
  } satisfies Partial<Handlers<typeof UserService>>;
}
