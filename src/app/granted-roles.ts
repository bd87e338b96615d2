import { toJson } from "@bufbuild/protobuf";
import { GetUserGrantSchema } from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import type { GrantedRoles, Own, Part } from "../account/index.ts";

/** Which roles people were granted, as the service of user grants answers it. */
export const grantedRoles: GrantedRoles = {
  async search(own, part) {
    const { result } = await found(own, part);
    return result.map(({ details, userGrant }) => ({
      projectId: userGrant?.projectId ?? "",
      organizationId: details?.resourceOwner?.id ?? "",
      roles: userGrant?.roleKeys ?? [],
    }));
  },
  async written(own, part) {
    const { result } = await found(own, part);
    return result.map((each) => toJson(GetUserGrantSchema, each, { useProtoFieldName: true }));
  },
};

const found = ({ call, user }: Pick<Own, "call" | "user">, { limit, offset }: Part) =>
  call(UserGrantService.method.searchUserGrants, {
    query: { limit, offset: BigInt(offset) },
    filters: [{ filter: { case: "inUserIds", value: { ids: [user.id] } } }],
  });
