import type { JsonObject } from "@bufbuild/protobuf";
import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { type MemberContext, memberContexts, memberPermission } from "./member-permission.ts";
import {
  type Action,
  type Rows,
  type Search,
  type Shown,
  type Outcome,
  textAt,
} from "./declare.ts";

const { searchEvents } = EventService.method;
const {
  createMembership,
  deleteMembership,
  listAvailableRoles,
  patchMembership,
  searchMemberships,
} = MembershipService.method;

export const id = { id: { of: "details.id" } } as const;

/** A key that is made here or given, and what is shown of it once. */
export const newKey: Pick<Action, "fields" | "once"> = {
  fields: [
    { path: "key.expiration_date" },
    {
      word: "keyOrigin",
      ways: [
        { word: "keyMade" },
        { word: "keyGiven", fields: [{ path: "key.public_key", isRequired: true }] },
      ],
    },
  ],
  once: [
    { path: "key_id", word: "id", isKept: true },
    { path: "key_file", fileName: "key.json" },
  ],
};

/** Ends what a person let an app have. */
export const withdraw: Action = {
  word: "withdraw",
  method: ConsentService.method.deleteConsent,
  about: "about_withdraw",
  given: id,
  isDangerous: true,
};

/** What every object tells of itself. */
export const ownFacts: readonly Shown[] = [
  { path: "details.change_date", word: "changed" },
  { path: "details.id", word: "id", as: "code" },
];

/** What happened, when, by whom, and to what. */
export const eventColumns: readonly Shown[] = [
  {
    path: "type",
    word: "what",
    text: (event) => textAt(event, "localized_message") || textAt(event, "type"),
  },
  { path: "creation_date", word: "when" },
  { path: "editor.user_id", word: "who", as: "person" },
  { path: "aggregate.type", word: "kind", as: "code" },
  { path: "aggregate.id", word: "id", as: "code" },
  { path: "editor.client_id", as: "code" },
  { path: "editor.request_id", word: "request", as: "request" },
];

/** The events of one object. */
export const historyOf = (type: string): Search => ({
  method: searchEvents,
  request: (object) => ({ filters: [{ aggregate: { type, id: textAt(object, "details.id") } }] }),
});

const rolesIn = (context: MemberContext, path: string) => ({
  path: "membership.roles",
  isRequired: true as const,
  choices: {
    method: listAvailableRoles,
    request: (text: (path: string) => string): JsonObject => ({ ctx: { [context]: text(path) } }),
    rows: "roles",
  },
});

/** The roles of a membership that is there; of which context it is its row tells. */
const rolesOfRow = {
  path: "membership.roles",
  isRequired: true,
  choices: {
    method: listAvailableRoles,
    request: (text: (path: string) => string): JsonObject | undefined => {
      const found = memberContexts.find((each) => text(`membership.ctx.${each}`) !== "");
      return found === undefined
        ? undefined
        : { ctx: { [found]: text(`membership.ctx.${found}`) } };
    },
    rows: "roles",
  },
} as const;

const holds: readonly Outcome[] = [
  {
    path: "holds",
    word: "holdsEnded",
    columns: [
      { path: "id", word: "what", as: "code" },
      { path: "kept" },
      { path: "maker_id", word: "maker", as: "person" },
      { path: "creation_date" },
    ],
  },
];

export const membershipActions = (context?: MemberContext): readonly Action[] => [
  {
    word: "changeRoles",
    method: patchMembership,
    given: id,
    fields: [rolesOfRow],
    isChange: true,
    outcome: holds,
    ...(context && { permission: memberPermission(context, "write") }),
  },
  {
    word: "removeMember",
    method: deleteMembership,
    given: id,
    isDangerous: true,
    ...(context && { permission: memberPermission(context, "delete") }),
  },
];

/** Gives somebody roles in a context, whose ID the page has at the path. */
export const addMember = (context: MemberContext, path: string): Action => ({
  word: "addMember",
  method: createMembership,
  permission: memberPermission(context, "write"),
  given: { [`membership.ctx.${context}`]: { page: path } },
  fields: [{ path: "membership.user_id", word: "person", as: "person" }, rolesIn(context, path)],
  outcome: holds,
});

/** Who has roles in a context, whose ID is at the path. */
export const membersOf = (context: MemberContext, path: string): Rows => ({
  word: "administrators",
  tab: "access",
  membersOf: context,
  search: {
    method: searchMemberships,
    request: (object) => ({ filters: [{ context: { [context]: textAt(object, path) } }] }),
  },
  columns: [
    { path: "membership.user_id", word: "field_user", as: "person" },
    { path: "membership.roles", as: "code" },
    { path: "accepted" },
    { path: "details.change_date", word: "changed" },
  ],
  add: [addMember(context, path)],
  actions: membershipActions(context),
});

/** Whether the state of an object says that it is active, or that it is not. */
export const activity = (object: Parameters<NonNullable<Action["when"]>>[0], isActive: boolean) =>
  /(^|_)STATE_ACTIVE$/.test(textAt(object, "state")) === isActive;
