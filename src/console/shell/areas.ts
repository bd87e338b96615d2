import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";

/** What the rail leads to, each with the method that its page begins with: who has no use for it does not see it. */
export const areas = [
  { name: "people", to: "/people", method: UserService.method.searchUsers },
  {
    name: "organizations",
    to: "/organizations",
    method: OrganizationService.method.searchOrganizations,
  },
  { name: "applications", to: "/applications", method: AppService.method.searchApps },
] as const;
