import type { OrganizationReader } from "../authz/ports.ts";
import type { BrowserSession } from "../oidc/core/ports.ts";
import type { Deps } from "../projection/module.ts";
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
};

/** A session of a user who is active; not all that the login asks for need be proven. */
export type LoginSession = {
  id: string;
  user: { id: string; organizationId: string };
  proofs: Proofs;
};

export type LoginSessions = {
  /** A session that lives, of an active user of an active organization. */
  find(instanceId: string, id: string): Promise<LoginSession | undefined>;
};

export function loginSessions({
  db,
  organizations,
  now,
}: Pick<Deps, "db" | "now"> & { organizations: OrganizationReader }): LoginSessions {
  const byId = current(db, sessionById(db));
  const activeUser = activeUserReader({ db, organizations });
  return {
    async find(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined || !isLiving(row, now()) || row.userId === "") return undefined;
      const user = await activeUser(instanceId, row.userId);
      return user === undefined
        ? undefined
        : {
            id,
            user: { id: user.id, organizationId: user.organizationId },
            proofs: proofsOf(row),
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
  };
}

const latest = (dates: readonly (Date | null | undefined)[]): Date | undefined =>
  dates
    .filter((date): date is Date => date instanceof Date)
    .toSorted((a, b) => b.getTime() - a.getTime())[0];

/** When the user last proved who he is, by what stands alone. */
export const firstFactorAt = ({ password, key, isUserVerified }: Proofs): Date | undefined =>
  latest([password, isUserVerified ? key : undefined]);

/** When he last proved it by a second factor, or by one that is both. */
export const secondFactorAt = ({ otp, key }: Proofs): Date | undefined => latest([otp, key]);

/**
 * How the user proved himself, in the words of RFC 8176: `pwd`, `otp`, `hwk` (a key), `user` (the key knew him), `mfa`.
 */
export function methodsOf({ password, key, isUserVerified, otp }: Proofs): string[] {
  const one = [
    ...(password === undefined ? [] : ["pwd"]),
    ...(otp === undefined ? [] : ["otp"]),
    ...(key === undefined ? [] : ["hwk"]),
  ];
  const verified = key !== undefined && isUserVerified;
  return [...one, ...(verified ? ["user"] : []), ...(one.length > 1 || verified ? ["mfa"] : [])];
}

/** The session as the provider sees it; undefined while nothing of its user is proven. */
export function toBrowserSession({ id, user, proofs }: LoginSession): BrowserSession | undefined {
  const authTime = firstFactorAt(proofs);
  return authTime && { id, user, authTime, amr: methodsOf(proofs) };
}
