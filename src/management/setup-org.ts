import { type UserDeps, humanAdder, reachOf } from "../resources/user/index.ts";
import type { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { writeContext } from "../authz/context.ts";
import type { MakeMember } from "../authz/ports.ts";
import type { Handlers } from "../authz/service.ts";
import { organizationCreator } from "../resources/org/index.ts";
import { toCreatedDetails, toData, toEmail, toPhone } from "./convert.ts";

const usualRole = "ORG_OWNER";

/**
 * Sets an organization up: its domain, its first user and their membership, in one unit (G1).
 *
 * @throws ALREADY_EXISTS ORGANIZATION_NAME_TAKEN, ORGANIZATION_DOMAIN_TAKEN
 * @throws INVALID_ARGUMENT ROLE_UNKNOWN, PASSWORD_POLICY, PHONE_INVALID
 */
export function setUpOrg(
  deps: UserDeps & { makeMember: MakeMember },
): Handlers<typeof ManagementService>["setUpOrg"] {
  const { events, makeMember } = deps;
  const create = organizationCreator(deps);
  const humans = humanAdder(deps);

  return async ({ org, human, roles }, scope) => {
    const { profile, email, phone, password, userName } = human ?? {};
    if (org === undefined || profile === undefined || email === undefined) {
      throw new Error("validation requires the organization and its first user");
    }
    const add = humans(scope.instanceId, {
      username: userName ?? "",
      data: toData(profile),
      email: toEmail(email),
      vouched: reachOf(scope),
      phone: toPhone(phone, "human.phone.phone"),
      password:
        password === undefined || password === ""
          ? undefined
          : {
              type: { case: "password", value: password },
              changeRequired: false,
              fields: { password: "human.password", hash: "" },
            },
    });
    return events
      .transact(writeContext(scope), async (tx) => {
        const made = await create(tx, scope.instanceId, {
          name: org.name,
          domain: org.domain === "" ? undefined : { name: org.domain, field: "org.domain" },
        });
        const first = await add(tx, made.id);
        const context = { type: "organization", organizationId: made.id } as const;
        const given = roles.length === 0 ? [usualRole] : roles;
        makeMember(tx, { userId: first.id, roles: given, context });
        const written = tx.written(made);
        return { written, orgId: made.id, userId: first.id };
      })
      .then(({ written, ...ids }) => ({ details: toCreatedDetails(written()), ...ids }));
  };
}
