import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { May } from "../rights-of.ts";
import { at } from "./declare.ts";
import { memberPermission } from "./member-permission.ts";
import { objectsAt } from "./schema.ts";

/** A step: where it is taken, and what tells that it was. */
export type FirstStep = {
  word: string;
  to: string;
  method: DescMethodUnary;
  /** What is done in it. */
  act?: DescMethodUnary;
  /** The permission in the instance to do it by, where the schema states none. */
  actPermission?: string;
  request: (me: { userId: string; instanceId: string }) => JsonObject;
  /** The permission in the instance to look for, where the schema states none. */
  permission?: string;
  isTaken: (answer: JsonObject) => boolean;
};

const some = { query: { limit: 10, skip_total: true } };
const found = (answer: JsonObject): number => objectsAt(answer, "result").length;

/** Whether somebody may take a step, and may know whether it was taken. */
export const mayTake = (
  { method, permission, act = method, actPermission = permission }: FirstStep,
  may: May,
): boolean => {
  const mayDo = (what: DescMethodUnary, needed: string | undefined) =>
    needed === undefined
      ? may(what, { isInstance: true }) || may(what)
      : may("", { isInstance: true }, needed);
  return mayDo(method, permission) && mayDo(act, actPermission);
};

/** From a new instance to people who log in to an application. */
export const firstSteps: readonly FirstStep[] = [
  {
    word: "stepSecure",
    to: "/ui/account",
    method: UserService.method.getUser,
    request: ({ userId }) => ({ id: userId }),
    isTaken: (answer) =>
      ["web_auth_n", "totps"].some((kind) =>
        objectsAt(answer, `user.user.authenticators.${kind}`).some((each) => each["is_verified"]),
      ),
  },
  {
    word: "stepOwner",
    to: "/administrators",
    method: MembershipService.method.searchMemberships,
    permission: memberPermission("instance_id", "read"),
    actPermission: memberPermission("instance_id", "write"),
    request: ({ instanceId }) => ({
      query: { limit: 100, asc: true, skip_total: true },
      filters: [{ context: { instance_id: instanceId } }],
    }),
    // The first start makes a person and a machine.
    isTaken: (answer) =>
      objectsAt(answer, "result").filter(({ membership }) =>
        JSON.stringify(at(membership, "roles")).includes('"IAM_OWNER"'),
      ).length > 2,
  },
  {
    word: "stepMail",
    to: "/mail",
    request: () => some,
    method: SMTPProviderService.method.searchSMTPProviders,
    act: SMTPProviderService.method.createSMTPProvider,
    isTaken: (answer) =>
      objectsAt(answer, "result").some(({ state }) => state === "EFFECTIVE_STATE_ACTIVE"),
  },
  {
    word: "stepApplication",
    to: "/projects",
    request: () => some,
    method: AppService.method.searchApps,
    act: AppService.method.createApp,
    isTaken: (answer) => found(answer) > 0,
  },
  {
    word: "stepPeople",
    to: "/people",
    method: UserService.method.searchUsers,
    act: UserService.method.createUser,
    request: () => ({
      ...some,
      filters: [{ schema_type: { name: "human", method: "TEXT_FILTER_METHOD_EQUALS" } }],
    }),
    isTaken: (answer) => found(answer) > 1,
  },
];
