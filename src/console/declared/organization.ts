import type { JsonObject } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { at, begins, type Kind, type Listed, present, type Rows, textAt } from "./declare.ts";
import { receivedGrantActions } from "./grants.ts";
import { activity, historyOf, id, membersOf, ownFacts } from "./shared.ts";

const org = OrganizationService.method;
const domain = DomainService.method;

const is = (flag: string) => (object: JsonObject) => at(object, `domain.${flag}`) === true;
const isVerified = is("is_verified");
const isPrimary = is("is_primary");
/** One that counts without a proof can be proven too: it has to be where proofs are demanded later. */
const isProven = is("is_proven");
const isAsked = (object: JsonObject): boolean =>
  textAt(object, "domain.validation_type") !== "DOMAIN_VALIDATION_TYPE_UNSPECIFIED";

/** What is put where the way of proof says. */
const proof = [
  { path: "validation.record" },
  { path: "validation.url", word: "proofAddress" },
  { path: "validation.token" },
] as const;
const askForProof = {
  method: domain.patchDomain,
  given: id,
  asFor: org.patchOrganization,
  fields: [{ path: "domain.validation_type", isRequired: true }],
  once: proof,
} as const;

const domains: Rows = {
  word: "domains",
  tab: "overview",
  search: {
    method: domain.searchDomains,
    request: (object) => ({
      filters: [{ organization: { org_id: textAt(object, "details.id") } }],
    }),
  },
  columns: [
    { path: "domain.name", as: "code" },
    // It makes login names: it is proven, or nobody asked for a proof.
    { path: "domain.is_verified", word: "inUse" },
    { path: "domain.is_proven" },
    { path: "domain.is_primary" },
    { path: "domain.validation_type" },
  ],
  add: [
    {
      word: "addDomain",
      method: domain.createDomain,
      asFor: org.patchOrganization,
      given: { "ctx.org_id": { page: "details.id" } },
      fields: [{ path: "domain.name", word: "domain" }, { path: "domain.validation_type" }],
      once: proof,
    },
  ],
  actions: [
    {
      word: "proveDomain",
      method: domain.validate,
      given: id,
      asFor: org.patchOrganization,
      when: (object) => !isProven(object) && isAsked(object),
    },
    {
      ...askForProof,
      word: "chooseProof",
      when: (object) => !isProven(object) && !isAsked(object),
    },
    { ...askForProof, word: "changeProof", when: (object) => !isProven(object) && isAsked(object) },
    {
      word: "makePrimary",
      method: domain.setAsPrimary,
      given: id,
      asFor: org.patchOrganization,
      when: (object) => isVerified(object) && !isPrimary(object),
    },
    {
      word: "remove",
      method: domain.deleteDomain,
      given: id,
      asFor: org.patchOrganization,
      isDangerous: true,
    },
  ],
};

const received: Rows = {
  word: "receivedGrants",
  tab: "access",
  search: {
    method: ProjectGrantService.method.searchProjectGrants,
    request: (object) => ({
      filters: [{ granted_organization_id: textAt(object, "details.id") }],
    }),
  },
  columns: [
    { path: "project_grant.project_id", as: "project" },
    { path: "project_grant.role_keys" },
    { path: "state" },
    { path: "accepted" },
  ],
  actions: receivedGrantActions,
};

export const organization: Kind = {
  back: { to: "/organizations", word: "organizations" },
  get: org.getOrganization,
  object: "organization",
  title: (object) => textAt(object, "organization.name"),
  organization: "details.id",
  facts: [{ path: "organization.name" }, { path: "state" }, ...ownFacts],
  links: [
    { to: "/people", word: "people", method: UserService.method.searchUsers },
    { to: "/applications", word: "applications", method: AppService.method.searchApps },
    { to: "/projects", word: "projects", method: ProjectService.method.searchProjects },
  ],
  actions: [
    {
      word: "edit",
      method: org.patchOrganization,
      given: id,
      isChange: true,
      fields: [{ path: "organization.name" }],
    },
    { word: "makeDefault", method: org.setAsInstanceDefault, given: id },
    {
      word: "deactivate",
      method: org.deactivateOrganization,
      about: "about_deactivateOrganization",
      given: id,
      isDangerous: true,
      when: (object) => activity(object, true),
      undo: { method: org.activateOrganization, given: id },
    },
    {
      word: "activate",
      method: org.activateOrganization,
      given: id,
      when: (object) => activity(object, false),
    },
    {
      word: "delete",
      method: org.deleteOrganization,
      about: "about_deleteOrganization",
      given: id,
      isDangerous: true,
      leadsTo: "/organizations",
    },
  ],
  rows: [domains, membersOf("org_id", "details.id"), received],
  history: historyOf("org"),
};

export const organizations: Listed = {
  search: {
    method: org.searchOrganizations,
    request: ({ q, state }) => ({
      sorting_column: "ORGANIZATION_FIELD_NAME_NAME",
      filters: present([q !== "" && { name: begins(q) }, state !== "" && { state: { state } }]),
    }),
  },
  states: ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"],
  watches: ["org.added", "org.changed", "org.removed", "org.deactivated", "org.reactivated"],
  columns: [
    { path: "organization.name" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
    { path: "details.id", word: "id", as: "code" },
  ],
  opens: { to: "/organizations/$id", id: "details.id" },
  add: [
    {
      word: "addOrganization",
      method: org.createOrganization,
      fields: [{ path: "organization.name" }, { path: "organization.domain" }],
      leadsTo: "/organizations/$id",
    },
    {
      word: "setUpOrganization",
      method: ManagementService.method.setUpOrg,
      fields: [
        { path: "org.name", word: "organization" },
        { path: "org.domain", word: "domain" },
        { path: "human.user_name", word: "username" },
        { path: "human.profile.first_name", word: "field_given_name" },
        { path: "human.profile.last_name", word: "field_family_name" },
        { path: "human.email.email", word: "email" },
        { path: "human.password", as: "password" },
      ],
      leadsTo: "/organizations/$id",
      newId: "org_id",
    },
  ],
};
