import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { OrganizationReader } from "../../authz/ports.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { users } from "./projection.ts";

export type ActiveUser = { id: string; organizationId: string; schemaType: string };

/**
 * The user, where they and their organization are active; both are read anew after every write that touched them
 * (B7). What is remembered is known at once, and every call is spared the promises.
 */
export function activeUserReader(parts: {
  db: Database;
  organizations: OrganizationReader;
}): (instanceId: string, id: string) => Awaitable<ActiveUser | undefined> {
  const { db, organizations } = parts;
  const userById = cachedRead(db, [users], rowByKey(db, users));
  return (instanceId, id) =>
    whenKnown(userById(instanceId, id), (user) => {
      if (user?.state !== "active") return undefined;
      return whenKnown(organizations.byId(instanceId, user.organizationId), (organization) =>
        organization?.state === "active" ? user : undefined,
      );
    });
}
