import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Way } from "../../federation/index.ts";
import type { Said } from "../user/index.ts";

type At = WriteContext & { issuer: string };
type Wanted = {
  idpId: string;
  /** The organization whose view of the provider counts; absent for the instance. */
  organizationId: string | undefined;
  /** Where the browser returns to; both are empty where it does not leave. */
  goesOn: { successUrl: string; failureUrl: string };
};
/** Which user has the account, and the event that tells of it. */
type Told = { userId: string | undefined; written: () => Written };

/** Logins with identity providers that login pages of somebody's own begin (specification 11.4). */
export type IdpLogins = {
  /** @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE, IDP_CONFIG_INVALID; UNAVAILABLE IDP_UNAVAILABLE */
  begin(at: At, of: Wanted & { isFresh: boolean }): Promise<{ way: Way } & Pick<Told, "written">>;
  /**
   * Asks a directory; undefined where the name or the password is wrong.
   *
   * @throws NOT_FOUND IDP_UNKNOWN; FAILED_PRECONDITION IDP_INACTIVE, IDP_NOT_LDAP; UNAVAILABLE IDP_UNAVAILABLE
   */
  lookUp(
    at: At,
    of: Wanted,
    tried: { username: string; password: string },
  ): Promise<({ id: string; token: string } & Told) | undefined>;
  /** What is told of a login, once. @throws NOT_FOUND IDP_INTENT_NOT_FOUND, INVALID_ARGUMENT IDP_INTENT_TOKEN_INVALID */
  retrieve(at: WriteContext, proof: { id: string; token: string }): Promise<Said & Told>;
};
