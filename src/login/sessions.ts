import type { OrganizationReader } from "../authz/ports.ts";
import type { BrowserSession } from "../oidc/core/ports.ts";
import type { Deps } from "../projection/module.ts";
import type { IdpIntents } from "../resources/idpintent/index.ts";
import { type FoundSession, isLiving, sessionById } from "../resources/session/index.ts";
import { activeUserReader } from "../resources/user/index.ts";
import { current } from "../storage/read-cache.ts";

/** What a user proved in a session, and when. */
export type Proofs = {
  password: Date | undefined;
  /** A passkey or security key; it stands for a password too where it knew its user. */
  key: Date | undefined;
  isUserVerified: boolean;
  /** A one-time password or a recovery code. */
  otp: Date | undefined;
  /** A login with an identity provider, which stands alone as a password does. */
  provider: Date | undefined;
};

/** A session of a user who is active; not all that the login asks for need be proven. */
export type LoginSession = {
  id: string;
  user: { id: string; organizationId: string };
  proofs: Proofs;
  /** The identity provider that he logged in with last. */
  idpId: string | undefined;
};

export type LoginSessions = {
  /**
   * A session that lives, of an active user of an active organization. One that came of a login with an identity provider
   * counts only while that is active for the organization (decisions E5).
   */
  find(instanceId: string, id: string): Promise<LoginSession | undefined>;
};

export function loginSessions({
  db,
  organizations,
  now,
  intents,
}: Pick<Deps, "db" | "now"> & {
  organizations: OrganizationReader;
  intents: Pick<IdpIntents, "isActive">;
}): LoginSessions {
  const byId = current(db, sessionById(db));
  const activeUser = activeUserReader({ db, organizations });
  return {
    async find(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined || !isLiving(row, now()) || row.userId === "") return undefined;
      const user = await activeUser(instanceId, row.userId);
      if (user === undefined) return undefined;
      const { organizationId } = user;
      const { idpId } = row;
      if (idpId !== "" && !(await intents.isActive(instanceId, organizationId, idpId))) {
        return undefined;
      }
      return {
        id,
        user: { id: user.id, organizationId },
        proofs: proofsOf(row),
        idpId: idpId === "" ? undefined : idpId,
      };
    },
  };
}

function proofsOf(row: FoundSession): Proofs {
  const codes = [row.totpCheckedAt, row.otpSmsCheckedAt, row.otpEmailCheckedAt];
  return {
    password: row.passwordCheckedAt ?? undefined,
    key: row.webAuthNCheckedAt ?? undefined,
    isUserVerified: row.isUserVerified,
    otp: latest([...codes, row.recoveryCodeCheckedAt]),
    provider: row.intentCheckedAt ?? undefined,
  };
}

const latest = (dates: readonly (Date | null | undefined)[]): Date | undefined =>
  dates
    .filter((date): date is Date => date instanceof Date)
    .toSorted((a, b) => b.getTime() - a.getTime())[0];

/** When the user last proved who he is, by what stands alone. */
export const firstFactorAt = ({
  password,
  key,
  isUserVerified,
  provider,
}: Proofs): Date | undefined => latest([password, isUserVerified ? key : undefined, provider]);

/** When he last proved it by a second factor, or by one that is both. */
export const secondFactorAt = ({ otp, key }: Proofs): Date | undefined => latest([otp, key]);

/**
 * How the user proved himself, in the words of RFC 8176: `pwd`, `otp`, `hwk` (a key), `user` (the key knew him), `mfa`;
 * and `ext`, which it has no word for: at an identity provider.
 */
export function methodsOf({ password, key, isUserVerified, otp, provider }: Proofs): string[] {
  const one = [
    ...(password === undefined ? [] : ["pwd"]),
    ...(provider === undefined ? [] : ["ext"]),
    ...(otp === undefined ? [] : ["otp"]),
    ...(key === undefined ? [] : ["hwk"]),
  ];
  const verified = key !== undefined && isUserVerified;
  // Password and provider stand for the same factor.
  const isMfa =
    verified ||
    one.filter((each) => each !== "ext").length > 1 ||
    (provider !== undefined && (otp ?? key) !== undefined);
  return [...one, ...(verified ? ["user"] : []), ...(isMfa ? ["mfa"] : [])];
}

/** The session as the provider sees it; undefined while nothing of its user is proven. */
export function toBrowserSession({ id, user, proofs }: LoginSession): BrowserSession | undefined {
  const authTime = firstFactorAt(proofs);
  return authTime && { id, user, authTime, amr: methodsOf(proofs) };
}
