import type { Permissions, ResourceScope } from "../../../src/authz/permissions.ts";
import {
  permissionsOf,
  permissionsOnInstance,
  type RoleContext,
  rolesOf,
} from "../../../src/authz/roles.ts";

/** A place of the world with a name for reports. */
export type NamedPlace = { name: string; place: ResourceScope };
/** Pairs of a permission and a place, as text. */
export type Power = Set<string>;

const contexts: readonly RoleContext[] = ["instance", "organization", "project", "projectGrant"];
const known = [...new Set(contexts.flatMap(rolesOf).flatMap((role) => [...permissionsOf(role)]))];
const ofSystem = [...new Set(rolesOf("system").flatMap((role) => [...permissionsOf(role)]))];

const pair = (permission: string, where: string): string => `${permission} at ${where}`;

/** What somebody may do at the places, of which others are nobody's business. */
export function powerOf(permissions: Permissions, places: readonly NamedPlace[]): Power {
  const power: Power = new Set();
  for (const { name, place } of places) {
    for (const permission of known) {
      if (permissions.holds(permission, place)) power.add(pair(permission, name));
    }
  }
  for (const permission of ofSystem) {
    if (permissions.holds(permission, { type: "system" })) power.add(pair(permission, "system"));
  }
  return power;
}

const owners: Readonly<Partial<Record<string, readonly RoleContext[]>>> = {
  IAM_OWNER: contexts,
  ORG_OWNER: ["organization", "project", "projectGrant"],
  PROJECT_OWNER: ["project"],
  PROJECT_GRANT_OWNER: ["projectGrant"],
};

/**
 * What a role gives its holder to give on, by the words of the rulings and not by the code that judges: what it permits there
 * and below, and of the owner of a place all that roles of the place or below permit, except `org.create`.
 */
export function coverOf(role: string, at: NamedPlace, places: readonly NamedPlace[]): Power {
  const power: Power = new Set();
  const more = (owners[role] ?? [])
    .flatMap(rolesOf)
    .flatMap((each) => [...permissionsOf(each)])
    .filter((permission) => permission !== "org.create");
  for (const { name, place } of places) {
    if (!isWithin(place, at.place)) continue;
    const isAtInstance = place.type === "instance";
    for (const one of isAtInstance ? permissionsOnInstance(role) : permissionsOf(role)) {
      power.add(pair(one, name));
    }
    for (const one of more) power.add(pair(one, name));
  }
  return withOwners(power, places);
}

/**
 * Whoever may do all that the owner of a place may do covers that owner, and can come to act as them: so they also come to
 * what owners cover beyond what they do.
 */
export function withOwners(power: Power, places: readonly NamedPlace[]): Power {
  for (const at of places) {
    const owner = ownerOf[at.place.type];
    if (owner === undefined) continue;
    const isOwner = [...permissionsOf(owner)].every((one) => power.has(pair(one, at.name)));
    if (!isOwner) continue;
    const more = (owners[owner] ?? []).flatMap(rolesOf).flatMap((role) => [...permissionsOf(role)]);
    for (const { name, place } of places) {
      if (!isWithin(place, at.place)) continue;
      for (const one of more) if (one !== "org.create") power.add(pair(one, name));
    }
  }
  return power;
}

const ownerOf: Readonly<Partial<Record<ResourceScope["type"], string>>> = {
  organization: "ORG_OWNER",
  project: "PROJECT_OWNER",
  projectGrant: "PROJECT_GRANT_OWNER",
};

function isWithin(place: ResourceScope, outer: ResourceScope): boolean {
  if (outer.type === "instance") return true;
  if (place.type === "system" || place.type === "instance") return false;
  if (outer.type !== "organization")
    return place.type === outer.type && idOf(place) === idOf(outer);
  return (place.type === "organization" ? place.id : place.organizationId) === outer.id;
}

const idOf = (place: ResourceScope): string =>
  place.type === "system" || place.type === "instance" ? "" : place.id;

export const addAll = (to: Power, more: Iterable<string>): void => {
  for (const each of more) to.add(each);
};
/** What of the one is not among the other. */
export const beyond = (one: Power, allowed: Power): string[] =>
  [...one].filter((each) => !allowed.has(each));
