import {
  type GetMyPermissionsResponse,
  PermissionScope,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import type { HeldScope, Me } from "../ports.ts";

/** Who reads, of what the service says that a caller may do. */
export const toMe = ({ result, ...caller }: GetMyPermissionsResponse): Me => ({
  ...caller,
  result: result.map((held) => ({ ...held, scope: scopes[held.scope] ?? "unspecified" })),
});

const scopes: Readonly<Record<PermissionScope, HeldScope>> = {
  [PermissionScope.UNSPECIFIED]: "unspecified",
  [PermissionScope.SYSTEM]: "system",
  [PermissionScope.INSTANCE]: "instance",
  [PermissionScope.EVERY_ORGANIZATION]: "everyOrganization",
  [PermissionScope.ORGANIZATION]: "organization",
  [PermissionScope.PROJECT]: "project",
  [PermissionScope.PROJECT_GRANT]: "projectGrant",
};
