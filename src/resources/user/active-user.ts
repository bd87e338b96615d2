import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { users } from "./projection.ts";

export type ActiveUser = { id: string; organizationId: string; schemaType: string };

/**
 * The user, where they and their organization are active; both are read anew after every write that touched them
 * (B7). What is remembered is known at once, and every call is spared the promises.
 */
export function activeUserReader({
  db,
  organizations,
}: Pick<Deps, "db" | "organizations">): (
  instanceId: string,
  id: string,
) => Awaitable<ActiveUser | undefined> {
  const read = rowByKey(db, users);
  const userById = cachedRead(db, [users], async (instanceId, userId) => {
    const row = await read(instanceId, userId);
    if (row === undefined) return undefined;
    const { id, organizationId, schemaType, state } = row;
    return { id, organizationId, schemaType, state };
  });
  return (instanceId, id) =>
    whenKnown(userById(instanceId, id), (user) => {
      if (user?.state !== "active") return undefined;
      return whenKnown(organizations.byId(instanceId, user.organizationId), (organization) =>
        organization?.state === "active" ? user : undefined,
      );
    });
}
