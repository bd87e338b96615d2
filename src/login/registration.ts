import { instanceFacts } from "../resources/instance/index.ts";
import type { LoginPolicy } from "../settings/policy/login.ts";
import type { LoginPorts } from "./ports.ts";
import { PageRefused, type PageContext } from "./page-context.ts";

/** What whoever registers will log in by; none where the settings let nobody log in by any of them. */
export type WayIn = "password" | "passkey" | "email";

/** A password where passwords are allowed; where they are not, a page asks for none. */
export function waysToRegister(policy: LoginPolicy): readonly WayIn[] {
  if (!policy.allowRegister) return [];
  if (policy.allowUsernamePassword) return ["password"];
  return [
    ...(policy.passkeysAllowed ? (["passkey"] as const) : []),
    ...(policy.firstFactors.includes("email") ? (["email"] as const) : []),
  ];
}

/** Where people get accounts, and whether they may make them. */
export type Registration = {
  /** The organization of a new account: the one that the login is bound to, or the default one. */
  homeOf(context: PageContext): Promise<string>;
  /** What they may log in by; one way at least. @throws PageRefused REGISTRATION_OFF */
  requireAllowed(context: PageContext): Promise<readonly WayIn[]>;
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
      const ways = waysToRegister(policy);
      if (ways.length === 0) throw new PageRefused("REGISTRATION_OFF", 403);
      return ways;
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
