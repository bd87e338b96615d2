import { failedPrecondition } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type InstanceEvent, instanceEvents } from "./events.ts";

export type Instance = {
  name: string;
  domains: string[];
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
    case "instance.domain.added":
      return { ...state, domains: [...state.domains, event.payload.domain] };
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
  { name, domains, defaultLanguage }: { name: string; domains: string[]; defaultLanguage: string },
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
    ...domains.map((domain) => instanceEvents["domain.added"]({ domain, isGenerated: false })),
    instanceEvents["domain.primary.set"]({ domain: primary }),
  ];
}

/** Logins and registrations that name no organization happen in this one from now on. */
export function setDefaultOrganization(
  state: Instance | undefined,
  { id, isActive }: { id: string; isActive: boolean },
): InstanceEvent[] {
  if (state?.defaultOrganizationId === id) {
    throw failedPrecondition("ORGANIZATION_IS_DEFAULT", "the organization is the default already");
  }
  if (!isActive) {
    throw failedPrecondition(
      "ORGANIZATION_INACTIVE",
      "an inactive organization cannot be the default: activate it first",
    );
  }
  return [instanceEvents["default.org.set"]({ organizationId: id })];
}
