import { instanceFacts } from "../resources/instance/index.ts";
import type { LoginPorts } from "./ports.ts";
import { PageRefused, type PageContext } from "./page-context.ts";

/** Where people get accounts, and whether they may make them. */
export type Registration = {
  /** The organization of a new account: the one that the login is bound to, or the default one. */
  homeOf(context: PageContext): Promise<string>;
  /** @throws PageRefused REGISTRATION_OFF */
  requireAllowed(context: PageContext): Promise<void>;
};

export function createRegistration({
  db,
  policyOf,
}: Pick<LoginPorts, "db" | "policyOf">): Registration {
  const instance = instanceFacts(db);
  const homeOf: Registration["homeOf"] = async ({ tenant, at }) =>
    tenant.organizationId ?? (await instance(at.instanceId)).defaultOrganizationId;
  return {
    homeOf,
    async requireAllowed(context) {
      const organizationId = await homeOf(context);
      const policy = await policyOf({ instanceId: context.at.instanceId, organizationId });
      if (!policy.allowRegister) throw new PageRefused("REGISTRATION_OFF", 403);
    },
  };
}

const longestAddress = 200;
// As HTML has it, and the API.
const addressForm =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** Whether a text can be an e-mail address. */
export const isAddress = (text: string): boolean =>
  text.length <= longestAddress && addressForm.test(text);
