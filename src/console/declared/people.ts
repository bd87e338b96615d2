import type { JsonObject } from "@bufbuild/protobuf";
import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import {
  type Action,
  begins,
  contextOf,
  type Field,
  type Listed,
  type Period,
  present,
  textAt,
} from "./declare.ts";
import { externalId, machineData, personData } from "./person.ts";
import { signedInApps } from "./person-sessions.ts";
import { id } from "./shared.ts";
import { userName } from "./user-name.ts";

const user = UserService.method;
const organization: Field = {
  path: "ctx.org_id",
  word: "organization",
  as: "organization",
  initial: { page: "org" },
};

const email: Field = { path: "user.contact.email.address", word: "email" };

const add: readonly Action[] = [
  {
    word: "addPerson",
    method: user.createUser,
    leadsTo: "/people/$id",
    fields: [
      organization,
      { path: "user.username" },
      ...personData.slice(0, 2),
      externalId,
      {
        word: "firstLogIn",
        ways: [
          { word: "invite", fields: [{ ...email, isRequired: true }] },
          {
            word: "withPassword",
            fields: [
              email,
              { path: "user.authenticators.password.password", as: "password", isRequired: true },
              { path: "user.authenticators.password.change_required", initial: { is: true } },
            ],
          },
        ],
      },
    ],
  },
  {
    word: "addMachine",
    method: user.createUser,
    leadsTo: "/people/$id",
    given: { "user.schema_id": { is: "machine" } },
    fields: [organization, { path: "user.username" }, ...machineData, externalId],
  },
];

export const people: Listed = {
  search: {
    method: user.searchUsers,
    request: ({ q, org, state, isHuman }) => ({
      sorting_column: "USER_FIELD_NAME_USERNAME",
      filters: present([
        isHuman === true && { not: { schema_type: { name: "machine" } } },
        org !== undefined && { organization: { org_id: org } },
        state !== "" && { state: { state } },
        q !== "" && {
          or: {
            filters: [
              { username: begins(q) },
              { display_name: begins(q) },
              { email: begins(q) },
              { phone: begins(q) },
              { external_id: begins(q) },
            ],
          },
        },
      ]),
    }),
  },
  states: ["USER_STATE_ACTIVE", "USER_STATE_INACTIVE", "USER_STATE_LOCKED", "USER_STATE_INITIAL"],
  // A log-in is none of these.
  watches: [
    "user.added",
    "user.changed",
    "user.removed",
    "user.deactivated",
    "user.reactivated",
    "user.locked",
    "user.unlocked",
    "user.username",
    "user.human.added",
    "user.human.profile",
    "user.human.email.changed",
    "user.machine",
  ],
  columns: [
    { path: "user.username" },
    { path: "user.data", word: "name", text: userName },
    { path: "user.contact.email.address", word: "email" },
    { path: "user.schema.type", word: "kind", as: "word" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/people/$id", id: "details.id" },
  selected: [
    { word: "lock", method: user.lockUser, about: "about_lock", given: id },
    {
      word: "deactivate",
      method: user.deactivateUser,
      about: "about_deactivatePerson",
      given: id,
      isDangerous: true,
    },
    { word: "activate", method: user.activateUser, given: id },
    {
      word: "delete",
      method: user.deleteUser,
      about: "about_deletePerson",
      given: id,
      isDangerous: true,
    },
  ],
  add,
};

const end: Action = {
  word: "end",
  method: SignInService.method.deleteSignIn,
  given: id,
  isDangerous: true,
};

const began = ({ from, to }: Period): JsonObject[] =>
  present([
    from !== undefined && {
      creation_date: { date: from, method: "TIMESTAMP_Filter_METHOD_GREATER_OR_EQUALS" },
    },
    to !== undefined && { creation_date: { date: to, method: "TIMESTAMP_Filter_METHOD_LESS" } },
  ]);

/**
 * Where everybody is signed in whose sessions the reader may see: the sessions of one person in one browser are one. They end by time, too, of
 * which no event tells.
 */
export const sessions: Listed = {
  search: {
    method: SignInService.method.searchSignIns,
    request: ({ org, person, period = {} }) => ({
      ...contextOf(org),
      filters: [...(person === undefined ? [] : [{ user_id: person }]), ...began(period)],
    }),
    isDescending: true,
  },
  isPolled: true,
  hasNoFilter: true,
  isByPerson: true,
  isByPeriod: true,
  name: (row, nameOf) =>
    [nameOf("person", textAt(row, "user_id")), textAt(row, "browser"), textAt(row, "details.id")]
      .filter((each) => each !== "")
      .join(" "),
  columns: [
    { path: "user_id", word: "person", as: "person" },
    {
      path: "browser",
      text: (row) =>
        [textAt(row, "browser"), textAt(row, "system")].filter((each) => each !== "").join(", "),
    },
    { path: "address", word: "seenAddress" },
    signedInApps,
    { path: "details.resource_owner.id", word: "organization", as: "organization" },
    { path: "since" },
    { path: "last_seen" },
  ],
  actions: [end],
  selected: [end],
};
