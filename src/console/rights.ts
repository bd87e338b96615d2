import type { DescMethod } from "@bufbuild/protobuf";
import { useSuspenseQuery } from "@connectrpc/connect-query";
import {
  AuthService,
  type GetMyPermissionsResponse,
} from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { needs } from "./told.ts";

/** Who the reader is, and what they may do somewhere. */
export function useRights(): {
  me: GetMyPermissionsResponse;
  /** Whether a method is of any use to the reader: they hold its permission somewhere. */
  may(method: DescMethod): boolean;
} {
  const { data: me } = useSuspenseQuery(AuthService.method.getMyPermissions, { limit: 1000 });
  const held = new Set(me.result.flatMap(({ permissions }) => permissions));
  return {
    me,
    may(method) {
      const needed = needs[`${method.parent.name}.${method.name}`] ?? "";
      return needed === "" || held.has(needed);
    },
  };
}
