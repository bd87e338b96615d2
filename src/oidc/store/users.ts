import { type NoteUse, type OrganizationReader, onlySecret } from "../../authz/ports.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import { organizationNames, organizationReader, provenDomains } from "../../resources/org/index.ts";
import { caseFold } from "../../storage/case-fold.ts";
import {
  activeUserReader,
  machineCredentials,
  metadataReader,
  profileReader,
  type UserProfile,
} from "../../resources/user/index.ts";
import type { Machine, User, Users } from "../core/ports.ts";
import type { Settings } from "../core/settings-ports.ts";
import { standardClaims } from "./standard-claims.ts";
import { userRights } from "./user-rights.ts";

type Parts = Pick<
  Deps,
  "db" | "memberships" | "projectGrants" | "userGrants" | "secrets" | "now"
> & {
  noteUse: NoteUse;
  settings: Pick<Settings, "ownProjectId">;
};

/** The users of an instance, people and machines. */
export function userStore(parts: Parts): Users {
  const { db, noteUse } = parts;
  const organizations: OrganizationReader = organizationReader(db);
  const activeUser = activeUserReader({ db, organizations });
  const machines = machineCredentials({ ...parts, organizations });
  const profile = profileReader(db);
  const names = organizationNames(db);
  const hasProven = provenDomains(db);
  const metadata = metadataReader(db);

  const nameOf = (instanceId: string, { username, organizationId }: UserProfile) =>
    whenKnown(names(instanceId, organizationId), ({ primaryDomain }) =>
      primaryDomain === "" ? username : `${username}@${primaryDomain}`,
    );

  /** What only the organization of the user vouches for is verified there, and by its proof of the domain of the address. */
  function asVerifiedFor(
    instanceId: string,
    user: UserProfile,
    toOrganization: string | undefined,
  ): Awaitable<UserProfile> {
    const { organizationId, email, emailReach, phoneReach } = user;
    if ((emailReach === "" && phoneReach === "") || toOrganization === organizationId) return user;
    return whenKnown(hasProven(instanceId, organizationId), (domains) => ({
      ...user,
      isEmailVerified:
        user.isEmailVerified &&
        (emailReach === "" ||
          domains.includes(
            caseFold(email ?? "")
              .split("@")
              .at(-1) ?? "",
          )),
      isPhoneVerified: user.isPhoneVerified && phoneReach === "",
    }));
  }

  const asMachine = <U extends User>(instanceId: string, user: U): Awaitable<U & Machine> =>
    whenKnown(profile(instanceId, user.id), (found) => {
      const isJwt = found?.data["access_token_type"] === "jwt";
      return { ...user, accessTokenType: isJwt ? "jwt" : "bearer" };
    });

  return {
    byId: ({ instanceId }, userId) => activeUser(instanceId, userId),
    byClientSecret: ({ instanceId }, clientId, secret) =>
      whenKnown(machines.byClientSecret(instanceId, clientId, secret), (user) => {
        if (user === undefined) return undefined;
        noteUse({ instanceId, ownerId: user.id, ...onlySecret });
        return asMachine(instanceId, user);
      }),
    async byKeyId({ instanceId }, kid) {
      const user = await machines.byKeyId(instanceId, kid);
      return user && asMachine(instanceId, user);
    },

    keyUsed: ({ instanceId }, { id: ownerId }, id) =>
      noteUse({ instanceId, ownerId, kind: "key", id }),

    claims: ({ instanceId }, userId, toOrganization) =>
      whenKnown(profile(instanceId, userId), (found) =>
        found === undefined
          ? {}
          : whenKnown(nameOf(instanceId, found), (name) =>
              whenKnown(asVerifiedFor(instanceId, found, toOrganization), (visible) =>
                standardClaims(visible, name),
              ),
            ),
      ),
    loginName: ({ instanceId }, userId) =>
      whenKnown(profile(instanceId, userId), (found) =>
        found === undefined ? "" : nameOf(instanceId, found),
      ),

    organization: async ({ instanceId }, id) => ({ id, ...(await names(instanceId, id)) }),
    async organizationBy({ instanceId }, by) {
      await db.catchUp();
      return "id" in by
        ? organizations.byId(instanceId, by.id)
        : organizations.byDomain(instanceId, by.primaryDomain.toLowerCase());
    },
    metadata: async ({ instanceId }, userId) => metadata(instanceId, userId),

    ...userRights(parts),
  };
}
