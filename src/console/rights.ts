import type { DescMethod } from "@bufbuild/protobuf";
import { useSuspenseQuery } from "@connectrpc/connect-query";
import {
  AuthService,
  type GetMyPermissionsResponse,
  PermissionScope,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { needs } from "./told.ts";

/** Where something is done; anywhere, where nothing is said. */
export type Place = { organizationId?: string; projectId?: string };

export type May = (method: DescMethod | string, place?: Place, permission?: string) => boolean;

const nameOf = (method: DescMethod | string): string =>
  typeof method === "string" ? method : `${method.parent.name}.${method.name}`;

const wide: readonly PermissionScope[] = [
  PermissionScope.SYSTEM,
  PermissionScope.EVERY_ORGANIZATION,
];

/** Who the reader is, and what they may do somewhere. */
export function useRights(): { me: GetMyPermissionsResponse; may: May } {
  const { data: me } = useSuspenseQuery(AuthService.method.getMyPermissions, { limit: 1000 });
  return {
    me,
    may(method, place, permission) {
      const needed = permission ?? needs[nameOf(method)] ?? "";
      if (needed === "") return true;
      return me.result.some(
        ({ scope, id, organizationId, permissions }) =>
          permissions.includes(needed) &&
          (place === undefined ||
            wide.includes(scope) ||
            (scope === PermissionScope.ORGANIZATION && id === place.organizationId) ||
            (scope === PermissionScope.PROJECT && id === place.projectId) ||
            (scope === PermissionScope.PROJECT_GRANT && organizationId === place.organizationId)),
      );
    },
  };
}
