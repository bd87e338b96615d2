import { useSuspenseQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import {
  AuthService,
  type GetMyPermissionsResponse,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { type Rights, rightsOf } from "./rights-of.ts";
import type { PageSearch } from "./routes.ts";
import { usePage } from "./shell/use-page.ts";
import { needs } from "./page-data.ts";

/** Who the reader is, and what they may do somewhere. */
export function useRights(): Rights & { me: GetMyPermissionsResponse } {
  const { data: me } = useSuspenseQuery(AuthService.method.getMyPermissions, { limit: 1000 });
  return { me, ...rightsOf(me, needs) };
}

/**
 * The organization that is worked in: the one in the address, else the only one that the reader is bound to. What each of several has
 * is shown of the first.
 */
export function useOrg(): string | undefined {
  const { org }: PageSearch = useSearch({ strict: false });
  const { organizations, reach } = useRights();
  const page = usePage();
  if (org !== undefined || organizations.length === 0) return org;
  if (organizations.length === 1) return organizations[0];
  return page?.scope === "one" ? reach(page, undefined)?.org : undefined;
}
