import { isLoopback } from "../authz/host.ts";
import { firstPasswordPolicy } from "../settings/policy/password.ts";
import { requirePolicy } from "../resources/user/index.ts";
import type { FirstHuman } from "./create-instance.ts";

/**
 * The password of the person who is to own an instance is judged as that will judge it, before anything is written.
 *
 * @param domain of the instance
 * @param field what is named where the password will not do
 * @throws INVALID_ARGUMENT PASSWORD_POLICY
 */
export async function requireFirstPassword(
  domain: string,
  { username, givenName, familyName, displayName, email, password }: FirstHuman,
  field: string,
): Promise<void> {
  if (password === undefined) return;
  const names = { given_name: givenName, family_name: familyName };
  const person = {
    username,
    email: { address: email, isVerified: true },
    data: displayName === undefined ? names : { ...names, display_name: displayName },
  };
  await requirePolicy(firstPasswordPolicy(isLoopback(domain)), password, person, field);
}
