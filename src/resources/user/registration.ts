import type { RegistrationReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { checkEvents } from "./check/events.ts";
import { eventTypes } from "../../eventstore/event.ts";
import { user } from "./user.ts";

const succeeded = eventTypes(checkEvents).filter((type) => type.endsWith(".check.succeeded"));
const ofChecks = "user_check";

/** Who made a user, and whether anything of that user's was ever checked with success: by the log. */
export function registrationReader({ events }: Pick<Deps, "events">): RegistrationReader {
  return {
    async openFor(instanceId, makerId, userId) {
      const of = (type: string) => ({ instanceId, aggregate: { type, id: userId }, limit: 1 });
      const [first] = await events.read(of(user.type));
      if (first?.editorId !== makerId) return undefined;
      const { state } = await events.load(user, instanceId, userId);
      if (state === undefined) return undefined;
      const [login] = await events.read({ ...of(ofChecks), types: succeeded });
      return login === undefined ? { organizationId: state.organizationId } : undefined;
    },
  };
}
