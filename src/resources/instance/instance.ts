import { failedPrecondition } from "../../errors.ts";
import { aggregate, changedFields, isEmpty, type Patch } from "../../eventstore/aggregate.ts";
import {
  type InstanceEvent,
  instanceEvents,
  type Limits,
  type LimitsEvent,
  limitsEvents,
  type OwnDomain,
} from "./events.ts";
import { instanceMissing } from "../../authz/tenancy.ts";

export type Instance = {
  name: string;
  domains: { id: string; name: string }[];
  primaryDomain: string;
  defaultOrganizationId: string;
  projectId: string;
};

export const instance = aggregate(instanceEvents, undefined as Instance | undefined, evolve);

function evolve(state: Instance | undefined, event: InstanceEvent): Instance | undefined {
  if (event.type === "instance.added") {
    const { name } = event.payload;
    return { name, domains: [], primaryDomain: "", defaultOrganizationId: "", projectId: "" };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case "instance.changed":
      return { ...state, name: event.payload.name };
    case "instance.removed":
    case "instance.contents.removed":
      return undefined;
    case "instance.domain.added": {
      const { domain: name, domainId: id = name } = event.payload;
      return { ...state, domains: [...state.domains, { id, name }] };
    }
    case "instance.domain.removed": {
      const { domain } = event.payload;
      return { ...state, domains: state.domains.filter(({ name }) => name !== domain) };
    }
    case "instance.domain.primary.set":
      return { ...state, primaryDomain: event.payload.domain };
    case "instance.default.org.set":
      return { ...state, defaultOrganizationId: event.payload.organizationId };
    case "instance.iam.project.set":
      return { ...state, projectId: event.payload.projectId };
    default:
      return event satisfies never;
  }
}

/** A new instance that answers at these domains; the first of them is its primary one. */
export function addInstance(
  state: Instance | undefined,
  {
    name,
    domains,
    defaultLanguage,
  }: { name: string; domains: OwnDomain[]; defaultLanguage: string },
): InstanceEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("INSTANCE_EXISTS", "an instance with this id exists");
  }
  const [primary] = domains;
  if (primary === undefined) {
    throw failedPrecondition("INSTANCE_WITHOUT_DOMAIN", "an instance needs a domain");
  }
  return [
    instanceEvents.added({ name, defaultLanguage }),
    ...domains.map((domain) => instanceEvents["domain.added"]({ ...domain, isGenerated: false })),
    instanceEvents["domain.primary.set"](primary),
  ];
}

/** A patch that changes nothing is no event and no error. */
export function patchInstance(
  state: Instance | undefined,
  name: string | undefined,
): InstanceEvent[] {
  if (state === undefined) throw instanceNotFound();
  return name === undefined || name === state.name ? [] : [instanceEvents.changed({ name })];
}

export function removeInstance(state: Instance | undefined): InstanceEvent[] {
  if (state === undefined) throw instanceNotFound();
  const { name } = state;
  const domains = state.domains.map((domain) => domain.name);
  return [instanceEvents.removed({ name, domains })];
}

const unlimited: Limits = { block: false, auditLogRetentionMs: null, quotas: null };

/** The limits of one instance, by its id, in the log of the system. */
export const limits = aggregate(limitsEvents, unlimited, (state, { payload }: LimitsEvent) => ({
  ...state,
  ...payload,
}));

/** Limits that are so already are no event. */
export function setLimits(state: Limits, wanted: Patch<Limits>): LimitsEvent[] {
  const changes = changedFields(state, wanted);
  return isEmpty(changes) ? [] : [limitsEvents.set(changes)];
}

export const instanceNotFound = () => instanceMissing("the instance does not exist");

/** Logins and registrations that name no organization happen in this one from now on. */
export function setDefaultOrganization(
  state: Instance | undefined,
  { id, isActive }: { id: string; isActive: boolean },
): InstanceEvent[] {
  if (state?.defaultOrganizationId === id) {
    throw organizationIsDefault("the organization is the default already");
  }
  if (!isActive) {
    throw failedPrecondition(
      "ORGANIZATION_INACTIVE",
      "an inactive organization cannot be the default: activate it first",
    );
  }
  return [instanceEvents["default.org.set"]({ organizationId: id })];
}

export const organizationIsDefault = (text: string) =>
  failedPrecondition("ORGANIZATION_IS_DEFAULT", text);
