import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";

const services = [
  ...[ActionService, AppService, DomainService, EventService, ProjectGrantService, RoleService],
  ...[UserGrantService, IdentityProviderService, MembershipService, OrganizationService],
  ...[ProjectService, SessionService, UserSchemaService, UserService],
];

/** The searches of an owner of an instance, but those of what one user or app has. */
export const searches = services.flatMap((each) =>
  each.methods.filter(({ input }) => "query" in input.field && !("id" in input.field)),
);
