import type { Kind, Listed, SettingsGroup } from "./declared/declare.ts";

/** What an address may say of a page beside its path, all of it text. */
export type PageSearch = { q?: string; org?: string; state?: string; tab?: string };

/** What the rail leads to, in its order. */
export const areas = [
  "people",
  "organizations",
  "applications",
  "signIn",
  "automation",
  "settings",
] as const;
export type Area = (typeof areas)[number];

/** A page that the console leads to, with the method that it begins with: who has no use for it is not led there. */
export type PageRoute = { path: string; area: Area; word: string; method: string } & (
  | { shows: "list"; load: () => Promise<Listed> }
  | { shows: "settings"; load: () => Promise<SettingsGroup> }
  | { shows: "object"; load: () => Promise<Kind> }
);
export type ObjectRoute = { path: string; load: () => Promise<Kind> };

const people = () => import("./declared/people.ts");
const organization = () => import("./declared/organization.ts");
const application = () => import("./declared/application.ts");
const project = () => import("./declared/project.ts");
const provider = () => import("./declared/provider.ts");
const automation = () => import("./declared/automation.ts");
const messages = () => import("./declared/messages.ts");
const instance = () => import("./declared/instance.ts");
const settings = () => import("./declared/settings.ts");

const list = (
  area: Area,
  path: string,
  method: string,
  word: string,
  load: () => Promise<Listed>,
) => ({ shows: "list", area, path, method, word, load }) as const;
const group = (
  area: Area,
  path: string,
  method: string,
  word: string,
  load: () => Promise<SettingsGroup>,
) => ({ shows: "settings", area, path, method, word, load }) as const;

/** The pages, each loaded by who opens it; the first of an area is where the rail leads. */
export const pages: readonly PageRoute[] = [
  list(
    "people",
    "/people",
    "UserService.SearchUsers",
    "people",
    async () => (await people()).people,
  ),
  list(
    "organizations",
    "/organizations",
    "OrganizationService.SearchOrganizations",
    "organizations",
    async () => (await organization()).organizations,
  ),
  list(
    "applications",
    "/applications",
    "AppService.SearchApps",
    "applications",
    async () => (await application()).applications,
  ),
  list(
    "applications",
    "/projects",
    "ProjectService.SearchProjects",
    "projects",
    async () => (await project()).projects,
  ),
  list(
    "signIn",
    "/providers",
    "IdentityProviderService.SearchIDPs",
    "providers",
    async () => (await provider()).providers,
  ),
  group(
    "signIn",
    "/settings/login",
    "LoginSettingsService.ResolveLoginSettings",
    "loginSettings",
    async () => (await settings()).login,
  ),
  group(
    "signIn",
    "/settings/password",
    "PasswordSettingsService.ResolvePasswordSettings",
    "passwordSettings",
    async () => (await settings()).password,
  ),
  group(
    "signIn",
    "/settings/branding",
    "BrandingSettingsService.ResolveBrandingSettings",
    "branding",
    async () => (await settings()).branding,
  ),
  list(
    "signIn",
    "/schemas",
    "UserSchemaService.SearchUserSchemas",
    "userSchemas",
    async () => (await instance()).userSchemas,
  ),
  list(
    "automation",
    "/targets",
    "ActionService.SearchTargets",
    "targets",
    async () => (await automation()).targets,
  ),
  list(
    "automation",
    "/executions",
    "ActionService.SearchExecutions",
    "executions",
    async () => (await automation()).executions,
  ),
  list(
    "automation",
    "/deliveries",
    "DeliveryService.SearchDeliveries",
    "deliveries",
    async () => (await automation()).deliveries,
  ),
  list(
    "automation",
    "/events",
    "EventService.SearchEvents",
    "events",
    async () => (await automation()).events,
  ),
  list(
    "automation",
    "/refusals",
    "EventService.SearchRefusals",
    "refusals",
    async () => (await automation()).refusals,
  ),
  {
    ...{ shows: "object", area: "settings", path: "/instance", word: "instance" },
    method: "InstanceService.GetInstance",
    load: async () => (await instance()).instancePage,
  },
  list(
    "settings",
    "/keys",
    "WebKeyService.ListWebKeys",
    "webKeys",
    async () => (await instance()).webKeys,
  ),
  list(
    "settings",
    "/mail",
    "SMTPProviderService.SearchSMTPProviders",
    "mailProviders",
    async () => (await messages()).mailProviders,
  ),
  list(
    "settings",
    "/sms",
    "SMSProviderService.SearchSMSProviders",
    "smsProviders",
    async () => (await messages()).smsProviders,
  ),
  group(
    "settings",
    "/settings/oidc",
    "OIDCSettingsService.ResolveOIDCSettings",
    "oidcSettings",
    async () => (await settings()).oidc,
  ),
  group(
    "settings",
    "/settings/security",
    "SecuritySettingsService.ResolveSecuritySettings",
    "securitySettings",
    async () => (await settings()).security,
  ),
  group(
    "settings",
    "/settings/features",
    "FeatureService.ResolveFeatures",
    "features",
    async () => (await settings()).features,
  ),
];

/** The pages of objects. */
export const objects: readonly ObjectRoute[] = [
  { path: "/people/$id", load: async () => (await import("./declared/person.ts")).person },
  { path: "/organizations/$id", load: async () => (await organization()).organization },
  { path: "/applications/$id", load: async () => (await application()).application },
  { path: "/projects/$id", load: async () => (await project()).projectPage },
  { path: "/targets/$id", load: async () => (await automation()).target },
  { path: "/mail/$id", load: async () => (await messages()).mailProvider },
  { path: "/sms/$id", load: async () => (await messages()).smsProvider },
  { path: "/schemas/$id", load: async () => (await instance()).userSchema },
  ...providerTypes().map((type) => ({
    path: `/providers/${type}/$id`,
    load: async () => (await provider()).providerPages(type),
  })),
];

/** The kinds of providers, as their pages are called. */
function providerTypes(): string[] {
  const own = ["forge_a", "forge_a_es", "forge_b", "forge_b_self_hosted", "social_a", "social_b"];
  return ["oidc", "saml", "ldap", "oauth", "jwt", "directory_a", ...own];
}
