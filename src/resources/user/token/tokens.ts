import type { OrganizationReader, TokenVerifier } from "../../../authz/ports.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { Database } from "../../../storage/database.ts";
import { and, eq } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import { personalAccessTokenKind } from "./stored.ts";
import { users } from "../projection.ts";

type ActiveUser = { id: string; organizationId: string; state: string };

/**
 * Recognises personal access tokens (decisions B5). The token counts only while its user and his organization are
 * active; both are read anew after every write that touched them (decisions B7).
 */
export function personalAccessTokens(parts: {
  db: Database;
  secrets: SecretStore;
  organizations: OrganizationReader;
  now: () => Date;
}): TokenVerifier {
  const { db, secrets, organizations, now } = parts;
  const t = db.table(users);
  const userById = cachedRead<ActiveUser | undefined>(db, [users], async (instanceId, id) => {
    const [row] = await db.read
      .select({ id: t.id, organizationId: t.organizationId, state: t.state })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
    return row;
  });
  return (token, { instanceId }) =>
    whenKnown(secrets.find(instanceId, personalAccessTokenKind, token), (found) => {
      if (found === undefined) return undefined;
      if (found.expiresAt !== null && found.expiresAt <= now()) return undefined;
      return whenKnown(userById(instanceId, found.ownerId), (user) => {
        if (user?.state !== "active") return undefined;
        const { id: userId, organizationId } = user;
        return whenKnown(organizations.byId(instanceId, organizationId), (organization) =>
          organization?.state === "active"
            ? { kind: "user", userId, organizationId, tokenKind: personalAccessTokenKind }
            : undefined,
        );
      });
    });
}

// What is remembered is known at once, and every call is spared the promises.
function whenKnown<T, R>(value: T | Promise<T>, next: (known: T) => R | Promise<R>) {
  return value instanceof Promise ? value.then(next) : next(value);
}
