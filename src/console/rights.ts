import type { DescMethod } from "@bufbuild/protobuf";
import { useSuspenseQuery } from "@connectrpc/connect-query";
import {
  AuthService,
  type GetMyPermissionsResponse,
  PermissionScope,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { needs } from "./told.ts";

/** Where something is done; anywhere, where nothing is said. */
export type Place = { isInstance?: true; organizationId?: string; projectId?: string };

export type May = (method: DescMethod | string, place?: Place, permission?: string) => boolean;

const nameOf = (method: DescMethod | string): string =>
  typeof method === "string" ? method : `${method.parent.name}.${method.name}`;

/** Who the reader is, and what they may do somewhere. */
export function useRights(): { me: GetMyPermissionsResponse; may: May } {
  const { data: me } = useSuspenseQuery(AuthService.method.getMyPermissions, { limit: 1000 });
  return {
    me,
    may(method, place, permission) {
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
    },
  };
}
