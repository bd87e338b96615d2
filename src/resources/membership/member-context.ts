import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MembershipContextSchema } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type { MemberContext, Membership, ResourceScope } from "../../authz/permissions.ts";
import type { OwnerRef } from "../../eventstore/event.ts";

/** The ids of a context and of what it is in, as events name them. */
export type ContextIds = { organizationId?: string; projectId?: string; grantId?: string };

/** Of each kind of context: the ids that it has, of which the first is its own, and how claims and requests call it. */
const kinds = {
  system: { ids: [], claim: "system", named: "system" },
  instance: { ids: [], claim: "instance", named: "instanceId" },
  organization: { ids: ["organizationId"], claim: "org", named: "orgId" },
  project: { ids: ["projectId", "organizationId"], claim: "project", named: "projectId" },
  projectGrant: {
    ids: ["grantId", "projectId", "organizationId"],
    claim: "grant",
    named: "projectGrantId",
  },
} as const satisfies Record<
  MemberContext["type"],
  { ids: readonly (keyof ContextIds)[]; claim: string; named: string }
>;

/** The context of a kind that has these ids; others are left out. */
export const contextFrom = (type: MemberContext["type"], ids: ContextIds): MemberContext =>
  ({
    type,
    ...Object.fromEntries(kinds[type].ids.map((name) => [name, ids[name]])),
    // A kind has the ids that its type names.
  }) as MemberContext;

/** Its own id; empty for the system, and for the instance, which is that of the log. */
const idOf = (context: MemberContext): string => {
  const [name] = kinds[context.type].ids;
  return (name && (context as ContextIds)[name]) ?? "";
};

/** What is unique of a membership: one for a user in a context (C4). */
export const claimOf = (context: MemberContext, userId: string): string =>
  [kinds[context.type].claim, idOf(context), userId].filter((part) => part !== "").join("/");

/** The context as a row has it. Empty: `organizationId` above organizations, `projectId` above projects. */
export const columnsOf = (context: MemberContext, instanceId: string) => {
  const { organizationId = "", projectId = "" } = context as ContextIds;
  const contextId = context.type === "instance" ? instanceId : idOf(context);
  return { contextType: context.type, contextId, organizationId, projectId };
};

/** The context of a row. */
export const contextOf = ({ contextType, contextId: grantId, ...ids }: ContextColumns) =>
  // The projection writes no other types.
  contextFrom(contextType as MemberContext["type"], { ...ids, grantId });

type ContextColumns = Record<"contextType" | "contextId" | "organizationId" | "projectId", string>;

/** The context as requests name it. */
export const namedContext = (context: MemberContext, instanceId: string) => {
  const { type } = context;
  const value = type === "system" ? true : columnsOf(context, instanceId).contextId;
  return { case: kinds[type].named, value } as NamedContext;
};

type NamedContext = NonNullable<MessageInitShape<typeof MembershipContextSchema>["context"]>;

export const ownerOf = (context: MemberContext, instanceId: string): OwnerRef => {
  if ("organizationId" in context) return { type: "org", id: context.organizationId };
  return context.type === "system"
    ? { type: "system", id: "" }
    : { type: "instance", id: instanceId };
};

export const resourceScopeOf = (context: MemberContext): ResourceScope =>
  "organizationId" in context
    ? { type: context.type, id: idOf(context), organizationId: context.organizationId }
    : context;

/** Roles in a context as those see them who judge permissions. */
export const asMembership = ({ context, roles }: RolesIn): Membership => ({
  contextType: context.type,
  contextId: idOf(context),
  ...("organizationId" in context && { organizationId: context.organizationId }),
  roles,
});

type RolesIn = { context: MemberContext; roles: readonly string[] };
