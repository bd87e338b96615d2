import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import type { users } from "../user/index.ts";
import { userSchemaHandlers } from "./handlers.ts";
import { userSchemas } from "./userschema.ts";

export { schemasOfUsers } from "./of-users.ts";

/**
 * User schemas: what the data of users looks like, and who may read and write it.
 * @param people the users, who stand above their schemas
 */
export const userSchemaModule = (people: typeof users) =>
  resourceModule([userSchemas], {
    services: (deps) => [service(UserSchemaService, userSchemaHandlers(deps, people))],
  });
