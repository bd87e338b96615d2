import type { ApiPower, ApiReach } from "./api-ports.ts";

const all = "*";

/** What two accesses both give. */
export function commonReach(one: ApiReach, other: ApiReach): ApiReach {
  const { permissions, instance, organizationIds } = one;
  return {
    permissions: permissions.includes(all)
      ? other.permissions
      : permissions.filter(
          (name) => other.permissions.includes(all) || other.permissions.includes(name),
        ),
    instance: instance && other.instance,
    organizationIds: instance
      ? other.organizationIds
      : other.instance
        ? organizationIds
        : organizationIds.filter((id) => other.organizationIds.includes(id)),
  };
}

const rank: Readonly<Record<ApiPower["kind"], number>> = {
  own: 0,
  organization: 1,
  given: 2,
  everything: 3,
  legacy: 4,
};

/** The lesser of two powers of one user: what comes of a token by exchange has no more than either (J6). */
export function lesserPower(
  one: ApiPower | undefined,
  other: ApiPower | undefined,
): ApiPower | undefined {
  if (one === undefined || other === undefined) return undefined;
  const [less, more] = rank[one.kind] <= rank[other.kind] ? [one, other] : [other, one];
  if (less.kind === "given" && more.kind === "given") {
    return { kind: "given", trusted: less.trusted && more.trusted, ...commonReach(less, more) };
  }
  if (less.kind === "organization" && more.kind === "organization") {
    return less.organizationId === more.organizationId ? less : { kind: "own" };
  }
  if (less.kind === "organization" && more.kind === "given") {
    const home = { permissions: [all], instance: false, organizationIds: [less.organizationId] };
    return { kind: "given", trusted: false, ...commonReach(home, more) };
  }
  return less;
}

/** What ends what stands on a consent, and on all consents of a client, as ids of parents (OidcSession.parents). */
export const consentParent = (clientId: string, userId: string): string =>
  `consent/${clientId}/${userId}`;
export const consentsParent = (clientId: string): string => `consents/${clientId}`;
