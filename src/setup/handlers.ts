import type { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { writeContext } from "../authz/context.ts";
import type { MakeMember } from "../authz/ports.ts";
import type { Handlers } from "../authz/service.ts";
import type { Begin, Deps } from "../projection/module.ts";
import { toDetails } from "../resources/object/details.ts";
import { requireSupported } from "../settings/policy/language.ts";
import {
  addHumanOwner,
  addMachineOwner,
  createInstance,
  newInstanceIds,
} from "./create-instance.ts";
import { requireFirstPassword } from "./first-password.ts";

/** What the making of instances asks of the service, beside what every slice may use. */
export type SetupPorts = {
  /** What slices set in an instance that is about to be made. */
  beginInstance: () => Promise<Begin[]>;
  makeMember: MakeMember;
};

/** The making of instances, for the slice of instances. */
export function setupHandlers(
  deps: Deps & SetupPorts,
): Pick<Handlers<typeof InstanceService>, "createInstance"> {
  const { events, newId } = deps;
  return {
    async createInstance({ instance: wanted }, scope) {
      if (wanted?.organization === undefined) throw new Error("validation requires the instance");
      const { name, domain, defaultLanguage = "en", organization, owner } = wanted;
      requireSupported([defaultLanguage], "instance.default_language");
      const domains = [domain.toLowerCase()];
      const ids = newInstanceIds(newId);
      const userId = newId();
      if (owner.case === "human") {
        const { password } = owner.value;
        const human = { ...owner.value, password };
        await requireFirstPassword(domain, human, "instance.human.password");
      }
      const begins = await deps.beginInstance();
      const made = { name, domains, defaultLanguage, organizationName: organization.name, begins };
      const at = writeContext(scope, ids.instance);
      const [written, token] = await events.transact(at, async (tx) => {
        const created = await createInstance(deps, tx, ids, made);
        if (owner.case === "machine") {
          const personalAccessToken = await addMachineOwner(deps, tx, ids, {
            ...owner.value,
            userId,
          });
          return [created, { personalAccessToken }] as const;
        }
        if (owner.case === "human") {
          const { password } = owner.value;
          await addHumanOwner(deps, tx, ids, domain, { ...owner.value, password, userId });
        }
        return [created, {}] as const;
      });
      return {
        details: toDetails(written()),
        organizationId: ids.organization,
        userId,
        domain: domains[0] ?? "",
        ...token,
      };
    },
  };
}
