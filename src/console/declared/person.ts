import type { JsonObject } from "@bufbuild/protobuf";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Action, at, type Field, type Kind, present, type Rows, textAt } from "./declare.ts";
import { grantUserRoles, userGrantActions, userGrantColumns } from "./grants.ts";
import { machineGuideOf } from "./guide-machine.ts";
import { credentials, isMachine, isPerson } from "./person-credentials.ts";
import { consents, refusals, sessions, signIns } from "./person-sessions.ts";
import { eventColumns, id, membershipActions, ownFacts } from "./shared.ts";
import { userName } from "./user-name.ts";

const user = UserService.method;

const isIn =
  (...states: string[]) =>
  (object: JsonObject): boolean =>
    states.includes(textAt(object, "state").replace("USER_STATE_", ""));

export const personData: readonly Field[] = [
  { path: "user.data.given_name" },
  { path: "user.data.family_name" },
  { path: "user.data.display_name" },
  { path: "user.data.nickname" },
  { path: "user.data.preferred_language" },
];
export const externalId: Field = { path: "user.external_id", hint: "hintExternalId" };
export const machineData: readonly Field[] = [
  { path: "user.data.name" },
  { path: "user.data.description" },
];

/** How an address or number is proven to be somebody's. */
const proofOf = (path: "email" | "phone") => ({
  word: "proof",
  ways: [
    { word: "sendCode", given: { [`${path}.send_code`]: { is: {} } } },
    { word: "showCode", given: { [`${path}.return_code`]: { is: {} } } },
    { word: "isProven", given: { [`${path}.is_verified`]: { is: true } } },
  ],
});
const isUnproven = (path: "email" | "phone") => (object: JsonObject) => {
  const contact = at(object, `user.contact.${path}`);
  return contact !== undefined && contact !== null && at(contact, "is_verified") !== true;
};
const another = {
  word: "delivery",
  ways: [
    { word: "sendCode", given: { "code.send_code": { is: {} } } },
    { word: "showCode", given: { "code.return_code": { is: {} } } },
  ],
};

const contact: readonly Action[] = [
  {
    word: "setEmail",
    method: user.setContactEmail,
    given: id,
    when: isPerson,
    fields: [
      { path: "email.address", word: "email", initial: { of: "user.contact.email.address" } },
      proofOf("email"),
    ],
    once: [{ path: "verification_code" }],
  },
  {
    word: "resendEmailCode",
    method: user.resendContactEmailCode,
    given: id,
    fields: [another],
    when: isUnproven("email"),
    once: [{ path: "verification_code" }],
  },
  {
    word: "verifyEmail",
    method: user.verifyContactEmail,
    given: id,
    fields: [{ path: "verification_code" }],
    when: isUnproven("email"),
  },
  {
    word: "setPhone",
    method: user.setContactPhone,
    given: id,
    when: isPerson,
    fields: [
      { path: "phone.number", word: "phone", initial: { of: "user.contact.phone.number" } },
      proofOf("phone"),
    ],
    once: [{ path: "verification_code" }],
  },
  {
    word: "resendPhoneCode",
    method: user.resendContactPhoneCode,
    given: id,
    fields: [another],
    when: isUnproven("phone"),
    once: [{ path: "verification_code" }],
  },
  {
    word: "verifyPhone",
    method: user.verifyContactPhone,
    given: id,
    fields: [{ path: "verification_code" }],
    when: isUnproven("phone"),
  },
];

const actions: readonly Action[] = [
  {
    word: "edit",
    method: user.patchUser,
    given: id,
    isChange: true,
    when: isPerson,
    fields: [{ path: "user.username" }, ...personData, externalId],
  },
  {
    word: "editMachine",
    method: user.patchUser,
    given: id,
    isChange: true,
    when: isMachine,
    fields: [{ path: "user.username" }, ...machineData, externalId],
  },
  ...contact,
  {
    word: "lock",
    method: user.lockUser,
    about: "about_lock",
    given: id,
    when: isIn("ACTIVE", "INITIAL"),
    undo: { method: user.unlockUser, given: id },
  },
  {
    word: "unlock",
    method: user.unlockUser,
    given: id,
    when: (object) => isIn("LOCKED")(object) || textAt(object, "throttling.passwords_until") !== "",
  },
  {
    word: "deactivate",
    method: user.deactivateUser,
    about: "about_deactivatePerson",
    given: id,
    isDangerous: true,
    when: isIn("ACTIVE", "INITIAL"),
    undo: { method: user.activateUser, given: id },
  },
  { word: "activate", method: user.activateUser, given: id, when: isIn("INACTIVE") },
  {
    word: "delete",
    method: user.deleteUser,
    about: "about_deletePerson",
    given: id,
    isDangerous: true,
    leadsTo: "/people",
  },
];

/** What they did themselves, in all of the instance. */
const activity: Rows = {
  word: "activity",
  tab: "activity",
  isByPeriod: true,
  logWindow: 100_000n,
  hint: "hintActivity",
  search: {
    method: EventService.method.searchEvents,
    request: (object, period, sequence) => ({
      filters: present([
        { editor: { user_id: textAt(object, "details.id") } },
        Object.keys(period ?? {}).length > 0 && { creation_date: { ...period } },
        sequence !== undefined && { sequence: { ...sequence } },
      ]),
    }),
    isDescending: true,
  },
  columns: eventColumns,
};

const memberships: Rows = {
  word: "memberships",
  tab: "access",
  hint: "hintMemberships",
  search: {
    method: MembershipService.method.searchMemberships,
    request: (object) => ({ filters: [{ in_user_ids: { ids: [textAt(object, "details.id")] } }] }),
  },
  columns: [
    { path: "membership.roles", as: "code" },
    { path: "membership.ctx.org_id", word: "organization", as: "organization" },
    { path: "membership.ctx.project_id", word: "project", as: "project" },
    { path: "membership.ctx.instance_id", word: "instance", as: "code" },
    { path: "accepted" },
  ],
  actions: [
    ...membershipActions(),
    {
      word: "accept",
      method: MembershipService.method.acceptMembership,
      given: id,
      when: (membership) => membership["accepted"] !== true,
    },
    {
      word: "decline",
      method: MembershipService.method.declineMembership,
      given: id,
      when: (membership) => membership["accepted"] !== true,
      isDangerous: true,
    },
  ],
};

const grants: Rows = {
  word: "grants",
  tab: "access",
  search: {
    method: UserGrantService.method.searchUserGrants,
    request: (object) => ({ filters: [{ in_user_ids: { ids: [textAt(object, "details.id")] } }] }),
  },
  columns: userGrantColumns,
  add: [
    grantUserRoles({ "user_grant.user_id": { page: "details.id" } }, [
      { path: "user_grant.project_id", word: "project", as: "project" },
    ]),
  ],
  actions: userGrantActions,
};

const metadata: Rows = {
  word: "metadata",
  tab: "overview",
  search: {
    method: user.searchUserMetadata,
    request: (object) => ({ id: textAt(object, "details.id") }),
  },
  columns: [
    { path: "key", word: "name" },
    { path: "value", as: "encoded" },
  ],
  add: [
    {
      word: "setMetadata",
      method: user.setUserMetadata,
      given: { id: { page: "details.id" } },
      fields: [
        { path: "key", word: "name" },
        { path: "metadata.value", word: "field_value", as: "encoded" },
      ],
    },
  ],
  actions: [
    {
      word: "remove",
      method: user.deleteUserMetadata,
      isDangerous: true,
      given: { id: { page: "details.id" }, key: { of: "key" } },
    },
  ],
};

/** People and machines. */
export const person: Kind = {
  back: { to: "/people", word: "people" },
  get: user.getUser,
  object: "user",
  title: userName,
  organization: "details.resource_owner.id",
  facts: [
    { path: "user.username" },
    { path: "user.login_names", empty: "noLoginNames" },
    ...[...personData, ...machineData].map(({ path }) => ({ path })),
    { path: "user.external_id" },
    { path: "user.contact.email.address", word: "email" },
    { path: "user.contact.email.is_verified", word: "emailProven" },
    { path: "user.contact.phone.number", word: "phone" },
    { path: "user.contact.phone.is_verified", word: "phoneProven" },
    { path: "user.schema.type", word: "kind", as: "word" },
    { path: "state" },
    { path: "throttling.passwords_until" },
    { path: "throttling.second_factors_until" },
    { path: "details.resource_owner.id", word: "organization", as: "organization" },
    ...ownFacts,
  ],
  actions,
  rows: [
    metadata,
    ...credentials,
    refusals,
    signIns,
    sessions,
    consents,
    memberships,
    grants,
    activity,
  ],
  history: {
    method: user.searchUserEvents,
    request: (object) => ({ id: textAt(object, "details.id") }),
  },
  guide: machineGuideOf,
  guideWord: "guideMachine",
};
