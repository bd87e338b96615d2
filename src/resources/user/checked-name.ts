import type { Deps } from "../../projection/module.ts";
import { loginNameReader, verifiedContactReader } from "./login-name.ts";

/**
 * The id of the user whom the check of a session names by what people type: a login name, else an address or a number that they
 * have verified, as on the pages of the login where no organization is asked for.
 */
export function checkedNameReader(
  deps: Pick<Deps, "db">,
): (instanceId: string, typed: string) => Promise<string | undefined> {
  const byLoginName = loginNameReader(deps);
  const byVerifiedContact = verifiedContactReader(deps.db);
  return async (instanceId, typed) => {
    // Both, whoever is found first: what is asked tells nothing by its time.
    const [byName, byContact] = await Promise.all([
      byLoginName(instanceId, typed),
      byVerifiedContact(instanceId, typed, undefined),
    ]);
    return byName ?? byContact;
  };
}
