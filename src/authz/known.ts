import type { Caller } from "./context.ts";
import type { Permissions } from "./permissions.ts";

/** Whether the caller may learn that an organization exists: it is their own, or they hold a role that reaches it (J13). */
export const knowsOrganization = (
  { caller, permissions }: { caller: Caller | undefined; permissions: Permissions },
  organizationId: string,
): boolean =>
  (caller?.kind === "user" && caller.organizationId === organizationId) ||
  permissions.knows(organizationId);
