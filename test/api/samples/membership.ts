import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { ofService, onId, type Sample, type World } from "./sample.ts";

const unknown = "MEMBERSHIP_NOT_FOUND";
// A user can be a member of a context once, so each membership gets an organization of its own.
const wanted = async ({ make, name, userId }: World) => ({
  ctx: { org_id: await make("/organizations", { name: name() }) },
  user_id: userId,
  roles: ["ORG_OWNER"],
});
const absent = { code: 5, reason: unknown };
const newMembership = async (world: World) => world.make("/memberships", await wanted(world));

/** A membership that somebody gave who owns an organization and nothing else, to a user of another one. */
async function newPending({ make, create, name, createAs }: World): Promise<string> {
  const org_id = await make("/organizations", { name: name() });
  const machine = { schema_id: "machine", data: { name: "M" } };
  const giver = await make(`/users?ctx.org_id=${org_id}`, { username: name(), ...machine });
  await make("/memberships", { ctx: { org_id }, user_id: giver, roles: ["ORG_OWNER"] });
  const { token } = await create(`/users/${giver}/personal_access_tokens`, {});
  const user_id = await make("/users", { username: name(), ...machine });
  const given = { ctx: { org_id }, user_id, roles: ["ORG_USER_MANAGER"] };
  const made = await createAs(String(token), "/memberships", given);
  return String(Object(made["details"]).id);
}

export const membershipSamples: Record<string, Sample> = ofService(MembershipService.typeName, {
  CreateMembership: {
    valid: async (world) => ({ membership: await wanted(world) }),
    invalid: {
      request: { membership: { user_id: "1", roles: [] } },
      field: "membership.roles",
    },
    unknown: {
      request: { membership: { ctx: { org_id: "404" }, user_id: "1", roles: ["ORG_OWNER"] } },
      reason: "ORGANIZATION_NOT_FOUND",
    },
    writes: true,
    stranger: { code: 5, reason: "ORGANIZATION_NOT_FOUND" },
  },
  PatchMembership: {
    valid: async (world) => ({
      id: await newMembership(world),
      membership: { roles: ["ORG_USER_MANAGER"] },
    }),
    invalid: {
      request: { id: "1", membership: { roles: ["a", "a"] } },
      field: "membership.roles",
    },
    unknown: { request: { id: "404", membership: { roles: ["ORG_OWNER"] } }, reason: unknown },
    writes: true,
    stranger: absent,
  },
  AcceptMembership: { ...onId(unknown, newPending), stranger: absent },
  DeclineMembership: { ...onId(unknown, newPending), stranger: absent },
  DeleteMembership: { ...onId(unknown, newMembership), stranger: absent },
  GetMembership: { ...onId(unknown, newMembership, false), stranger: absent },
  SearchMemberships: {
    valid: ({ userId, instanceId }) => ({
      filters: [{ in_user_ids: { ids: [userId] } }, { context: { instance_id: instanceId } }],
    }),
    invalid: { request: { filters: [{ role: { role: "" } }] }, field: "filters[0].role.role" },
    unknown: {
      request: { filters: [{ context: { org_id: "404" } }] },
      reason: "ORGANIZATION_NOT_FOUND",
    },
    writes: false,
    stranger: "answered",
  },
  ListAvailableRoles: {
    valid: ({ organizationId }) => ({ ctx: { org_id: organizationId } }),
    invalid: { request: { ctx: { org_id: "" } }, field: "ctx.org_id" },
    unknown: { request: { ctx: { org_id: "404" } }, reason: "ORGANIZATION_NOT_FOUND" },
    writes: false,
    stranger: "answered",
  },
});
