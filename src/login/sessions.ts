import type { OrganizationReader } from "../authz/ports.ts";
import { acrOf } from "../authz/step-up.ts";
import type { BrowserSession } from "../oidc/core/ports.ts";
import type { Deps } from "../projection/module.ts";
import {
  countingProofs,
  firstFactorAt,
  isLiving,
  levelsOf,
  methodsOf,
  type Proofs,
  sessionById,
} from "../resources/session/index.ts";
import { activeUserReader } from "../resources/user/index.ts";
import { current } from "../storage/read-cache.ts";
import type { PageContext } from "./page-context.ts";
import type { ProviderLogins } from "./ports.ts";

/** A session of a user who is active; not all that the login asks for need be proven. */
export type LoginSession = {
  id: string;
  user: { id: string; organizationId: string };
  proofs: Proofs;
  /** The identity provider that they logged in with last. */
  idpId: string | undefined;
};

export type LoginSessions = {
  /**
   * A session that lives, of an active user of an active organization. One that came of a login with an identity provider
   * counts only while that is active for the organization (E5).
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
  intents: Pick<ProviderLogins, "isActive">;
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
        proofs: countingProofs(row, now()),
        idpId: idpId === "" ? undefined : idpId,
      };
    },
  };
}

/** The sessions of a browser whose users are signed in there. */
export async function signedInHere(
  sessions: LoginSessions,
  { agent, at }: PageContext,
): Promise<LoginSession[]> {
  const all = await Promise.all(agent.sessionIds.map((id) => sessions.find(at.instanceId, id)));
  return all.filter((session) => session !== undefined).filter(toBrowserSession);
}

/** The session as the provider sees it; undefined while nothing of its user is proven. */
export function toBrowserSession({ id, user, proofs }: LoginSession): BrowserSession | undefined {
  const authTime = firstFactorAt(proofs);
  const levels = levelsOf(proofs).map(acrOf);
  return authTime && { id, user, authTime, amr: methodsOf(proofs), levels };
}
