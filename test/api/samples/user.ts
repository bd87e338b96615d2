import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "USER_NOT_FOUND";
const absent = { code: 5, reason: unknown };
const email = { address: "sample@example.com", return_code: {} };
const phone = { number: "+41790000000", return_code: {} };
export const newUser = ({ make, name }: World) =>
  make("/users", {
    username: name(),
    data: { given_name: "Ada" },
    contact: { email: { address: email.address }, phone: { number: phone.number } },
  });
const userThat = (action: string) => async (world: World) => {
  const id = await newUser(world);
  await world.act(`/users/${id}/_${action}`);
  return id;
};
const named = (make: (world: World) => Promise<string>, writes = true): Sample => ({
  ...onId(unknown, make, writes),
  stranger: absent,
});
const onUser = (more: object, invalid: Sample["invalid"]): Sample => ({
  valid: async (world) => ({ id: await newUser(world), ...more }),
  invalid,
  unknown: { request: { id: "404", ...more }, reason: unknown },
  writes: true,
  stranger: absent,
});
const value = { value: "eA==" };
const key = "colour";
let keeper: Promise<string> | undefined;
const userWithMetadata = (world: World) => {
  keeper ??= newUser(world).then(async (id) => {
    await world.put(`/users/${id}/metadata/${key}`, value);
    return id;
  });
  return keeper;
};

export const userSamples: Record<string, Sample> = ofService(UserService.typeName, {
  CreateUser: {
    valid: ({ name }) => ({ user: { username: name(), data: { family_name: "L" } } }),
    invalid: { request: { user: { username: "" } }, field: "user.username" },
    unknown: {
      request: { user: { username: "x" }, ctx: { org_id: "404" } },
      reason: "ORGANIZATION_NOT_FOUND",
    },
    writes: true,
  },
  PatchUser: onUser(
    { user: { data: { given_name: "B" } } },
    { request: { id: "1", user: { username: tooLong } }, field: "user.username" },
  ),
  DeactivateUser: named(newUser),
  ActivateUser: named(userThat("deactivate")),
  LockUser: named(newUser),
  UnlockUser: named(userThat("lock")),
  DeleteUser: named(newUser),
  GetUser: named(newUser, false),
  SearchUsers: {
    valid: ({ userId }) => ({ filters: [{ in_ids: { ids: [userId] } }] }),
    invalid: { request: { filters: [{ or: { filters: [] } }] }, field: "filters[0].or.filters" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
  SetContactEmail: onUser(
    { email: { address: "other@example.com" } },
    { request: { id: "1", email: { address: "x" } }, field: "email.address" },
  ),
  VerifyContactEmail: {
    valid: async (world) => {
      const id = await newUser(world);
      const { verification_code } = await world.put(`/users/${id}/email`, email);
      return { id, verification_code: verification_code as string };
    },
    invalid: { request: { id: "1", verification_code: "" }, field: "verification_code" },
    unknown: { request: { id: "404", verification_code: "x" }, reason: unknown },
    writes: true,
    stranger: absent,
  },
  ResendContactEmailCode: onUser({ code: {} }, { request: { id: tooLong }, field: "id" }),
  SetContactPhone: onUser(
    { phone: { number: "+41790000001" } },
    { request: { id: "1", phone: { number: "1" } }, field: "phone.number" },
  ),
  VerifyContactPhone: {
    valid: async (world) => {
      const id = await newUser(world);
      const { verification_code } = await world.put(`/users/${id}/phone`, phone);
      return { id, verification_code: verification_code as string };
    },
    invalid: { request: { id: "1", verification_code: "" }, field: "verification_code" },
    unknown: { request: { id: "404", verification_code: "x" }, reason: unknown },
    writes: true,
    stranger: absent,
  },
  ResendContactPhoneCode: onUser({ code: {} }, { request: { id: tooLong }, field: "id" }),
  SetUserMetadata: onUser(
    { key, metadata: value },
    { request: { id: "1", key, metadata: { value: "" } }, field: "metadata.value" },
  ),
  SearchUserEvents: {
    valid: async (world) => ({ id: world.userId, query: { limit: 1, asc: true } }),
    invalid: { request: { id: tooLong }, field: "id" },
    unknown: { request: { id: "404" }, reason: unknown },
    writes: false,
    stranger: absent,
  },
  GetUserMetadata: {
    valid: async (world) => ({ id: await userWithMetadata(world), key }),
    invalid: { request: { id: "1", key: tooLong }, field: "key" },
    unknown: { request: { id: "404", key }, reason: unknown },
    writes: false,
    stranger: absent,
  },
  DeleteUserMetadata: {
    valid: async (world) => {
      const id = await newUser(world);
      await world.put(`/users/${id}/metadata/${key}`, value);
      return { id, key };
    },
    invalid: { request: { id: "1", key: tooLong }, field: "key" },
    unknown: { request: { id: "404", key }, reason: unknown },
    writes: true,
    stranger: absent,
  },
  SearchUserMetadata: {
    valid: async (world) => ({ id: await userWithMetadata(world) }),
    invalid: { request: { id: "1", filters: [{}] }, field: "filters[0].filter" },
    unknown: { request: { id: "404" }, reason: unknown },
    writes: false,
    stranger: absent,
  },
});
