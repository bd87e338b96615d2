import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type RoleContext, rolesOf } from "../../../src/authz/roles.ts";
import type { Authenticator } from "../../support/authenticator.ts";
import type { Book } from "./book.ts";
import type { Browser } from "./browser.ts";
import type { NamedPlace, Power } from "./power.ts";
import type { Service } from "./service.ts";

export const password = "correct horse battery staple";
export const ownApi = "urn:idsvc:iam:org:project:id:idsvc:aud";
export const attackersUri = "https://attacker.test/cb";
export const base = "/resources/v3alpha";

/** Somebody of the world who logs in. */
export type Person = {
  name: string;
  id: string;
  loginName: string;
  organization: string;
  password: string;
  totp?: string;
};

/** What a person let a client have, as the search saw it happen on the pages. */
export type Consented = { scopes: Set<string>; choices: Set<string> };

/** An instance with people, machines, apps and providers, and an attacker among them. */
export type World = {
  service: Service;
  host: string;
  instanceId: string;
  /** Of a machine that owns the instance: others act by it. */
  ownerToken: string;
  /** The attacker's role; undefined for nobody and for strangers. */
  role: string | undefined;
  book: Book;
  places: readonly NamedPlace[];
  /** What the attacker may come to hold: what they had, and what was given to them. */
  allowed: Power;
  /** Whose names the attacker has from the start. */
  attackers: Set<string>;
  people: Map<string, Person>;
  /** Browsers by whose they are. */
  browsers: Map<string, Browser>;
  consents: Map<string, Consented>;
  /** Where each login name led at first. */
  led: Map<string, string>;
  /** By client id: the organization that its project belongs to. */
  clients: Map<string, string>;
  /** Of what they know, what the attacker has in mind, by kind. */
  focus: ReadonlyMap<string, readonly string[]>;
  /** By the names of bearer tokens: the users whom they are for, as far as the service has told. */
  subjects: Map<string, string>;
  /** By kind: what the attacker changed last. */
  touched: Map<string, string>;
  /** By step: whom or what it was about. */
  about: Map<string, string>;
  /** By address: whose it became by a step of the attacker. */
  mailOf: Map<string, string>;
  /** By user: who asked for the last code that proves their address. */
  codeAskedBy: Map<string, string>;
  /** Passkeys of the attacker's own, by the ids of the users for whom they are set up. */
  passkeys: Map<string, Authenticator>;
  /** How many names samples were given. */
  samples: number;
  /** Whether somebody else than the careless one has changed something of their account. */
  isCarelessTaken: boolean;
  /** Whose accounts the attacker has changed in their own name. */
  used: Set<string>;
  browser(of: string): Browser;
  asOwner(
    method: string,
    path: string,
    body?: JsonValue,
  ): Promise<{ status: number; json: JsonValue }>;
};

export const contextOf = (role: string): Exclude<RoleContext, "system"> =>
  (["instance", "organization", "project", "projectGrant"] as const).find((each) =>
    rolesOf(each).includes(role),
  ) ?? assert.fail(role);

/** All roles that somebody of an instance may have. */
export const allRoles: readonly string[] = (
  ["instance", "organization", "project", "projectGrant"] as const
).flatMap(rolesOf);

/** The name of the place in which a role of the world is held. */
export const homeOf = (role: string): string =>
  ({
    instance: "instance",
    organization: "alpha",
    project: "project alpha",
    projectGrant: "grant beta to alpha",
  })[contextOf(role)];

/** A place as memberships name it. */
export function contextField(
  place: string,
  id: (kind: string, name: string) => string,
): JsonObject {
  if (place === "instance") return { instance_id: id("instance", "own") };
  if (place.startsWith("project ")) return { project_id: id("project", place.slice(8)) };
  if (place.startsWith("grant ")) return { project_grant_id: id("project_grant", place.slice(6)) };
  return { org_id: id("organization", place) };
}
