import type { DescMethod } from "@bufbuild/protobuf";
import { useSuspenseQuery } from "@connectrpc/connect-query";
import {
  AuthService,
  type GetMyPermissionsResponse,
  PermissionScope,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import type { PageRoute } from "./routes.ts";
import { needs } from "./told.ts";

/** Where something is done; anywhere, where nothing is said. */
export type Place = { isInstance?: true; organizationId?: string; projectId?: string };

export type May = (method: DescMethod | string, place?: Place, permission?: string) => boolean;

const nameOf = (method: DescMethod | string): string =>
  typeof method === "string" ? method : `${method.parent.name}.${method.name}`;

/** The organization to open a page in, where the reader has a use for it; none, where they have not. */
export type Reach = (page: PageRoute, org: string | undefined) => { org?: string } | undefined;

const isPermission = (needed: string): boolean => needed.includes(".") && !/^[A-Z]/.test(needed);

/** Who the reader is, and what they may do somewhere. */
export function useRights(): { me: GetMyPermissionsResponse; may: May; reach: Reach } {
  const { data: me } = useSuspenseQuery(AuthService.method.getMyPermissions, { limit: 1000 });
  const may: May = (method, place, permission) => {
    const [act = "", onInstance = act] = needs[nameOf(method)]?.split(" ") ?? [];
    const needed = permission ?? (place?.isInstance === true ? onInstance : act);
    if (needed === "") return true;
    return me.result.some(
      ({ scope, id, organizationId, permissions }) =>
        permissions.includes(needed) &&
        (place === undefined ||
          scope === PermissionScope.SYSTEM ||
          (place.isInstance === true
            ? scope === PermissionScope.INSTANCE
            : scope === PermissionScope.EVERY_ORGANIZATION) ||
          (scope === PermissionScope.ORGANIZATION && id === place.organizationId) ||
          (scope === PermissionScope.PROJECT && id === place.projectId) ||
          (scope === PermissionScope.PROJECT_GRANT && organizationId === place.organizationId)),
    );
  };
  const reach: Reach = ({ scope, needs: needed }, org) => {
    const mayAt = (place?: Place) =>
      isPermission(needed) ? may("", place, needed) : may(needed, place);
    const here = org === undefined ? {} : { org };
    if (scope === "anywhere") return mayAt() ? here : undefined;
    if (scope === "instance") return mayAt({ isInstance: true }) ? {} : undefined;
    if (org !== undefined) return mayAt({ organizationId: org }) ? here : undefined;
    if (mayAt({ isInstance: true })) return {};
    // Who administers their own organization alone is led to what it has.
    return mayAt({ organizationId: me.organizationId }) ? { org: me.organizationId } : undefined;
  };
  return { me, may, reach };
}
