import { memberPermission } from "./declared/member-permission.ts";
import type { Kind, Listed, SettingsGroup } from "./declared/declare.ts";

/** What an address may say of a page beside its path, all of it text. */
export type PageSearch = Partial<
  Record<
    | "q"
    | "org"
    | "state"
    | "tab"
    | "from"
    | "to"
    | "person"
    | "language"
    | "job"
    | "request"
    | "near",
    string
  >
>;

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

/**
 * A page that the console leads to. It shows what is anywhere that the reader may read, or what one context has, the instance
 * or an organization, or what only the instance has. Who has no use for the method, or not the permission, that it needs is
 * not led there.
 */
export type PageRoute = {
  path: string;
  area: Area;
  word: string;
  scope: "anywhere" | "one" | "instance";
  needs: string;
} & (
  | { shows: "list"; load: () => Promise<Listed> }
  | { shows: "settings"; load: () => Promise<SettingsGroup> }
  /** Pages of their own, which the router knows. */
  | { shows: "transfer" }
  | { shows: "limits" }
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

/** The pages, each loaded by who opens it; the first of an area is where the rail leads. */
export const pages: readonly PageRoute[] = [
  {
    area: "people",
    path: "/people",
    word: "people",
    scope: "anywhere",
    shows: "list",
    needs: "UserService.SearchUsers",
    load: async () => (await people()).people,
  },
  {
    area: "people",
    path: "/sessions",
    word: "sessions",
    scope: "anywhere",
    shows: "list",
    needs: "SignInService.SearchSignIns",
    load: async () => (await people()).sessions,
  },
  {
    area: "organizations",
    path: "/organizations",
    word: "organizations",
    scope: "anywhere",
    shows: "list",
    needs: "OrganizationService.SearchOrganizations",
    load: async () => (await organization()).organizations,
  },
  {
    area: "applications",
    path: "/applications",
    word: "applications",
    scope: "anywhere",
    shows: "list",
    needs: "AppService.SearchApps",
    load: async () => (await application()).applications,
  },
  {
    area: "applications",
    path: "/projects",
    word: "projects",
    scope: "anywhere",
    shows: "list",
    needs: "ProjectService.SearchProjects",
    load: async () => (await project()).projects,
  },
  {
    area: "signIn",
    path: "/providers",
    word: "providers",
    scope: "one",
    shows: "list",
    needs: "IdentityProviderService.SearchIDPs",
    load: async () => (await provider()).providers,
  },
  {
    area: "signIn",
    path: "/settings/login",
    word: "loginSettings",
    scope: "one",
    shows: "settings",
    needs: "LoginSettingsService.ResolveLoginSettings",
    load: async () => (await settings()).login,
  },
  {
    area: "signIn",
    path: "/settings/password",
    word: "passwordSettings",
    scope: "one",
    shows: "settings",
    needs: "PasswordSettingsService.ResolvePasswordSettings",
    load: async () => (await settings()).password,
  },
  {
    area: "signIn",
    path: "/settings/branding",
    word: "branding",
    scope: "one",
    shows: "settings",
    needs: "BrandingSettingsService.ResolveBrandingSettings",
    load: async () => (await settings()).branding,
  },
  {
    area: "signIn",
    path: "/texts",
    word: "texts",
    scope: "one",
    shows: "list",
    needs: "TextSettingsService.ResolveTexts",
    load: async () => (await settings()).texts,
  },
  {
    area: "signIn",
    path: "/settings/languages",
    word: "languages",
    scope: "one",
    shows: "settings",
    needs: "LanguageService.SetLanguages",
    load: async () => (await settings()).languages,
  },
  {
    area: "signIn",
    path: "/failed-log-ins",
    word: "failedLogIns",
    scope: "one",
    shows: "list",
    needs: "EventService.SearchEvents",
    load: async () => (await provider()).failedLogIns,
  },
  {
    area: "signIn",
    path: "/schemas",
    word: "userSchemas",
    scope: "instance",
    shows: "list",
    needs: "UserSchemaService.SearchUserSchemas",
    load: async () => (await instance()).userSchemas,
  },
  {
    area: "automation",
    path: "/targets",
    word: "targets",
    scope: "instance",
    shows: "list",
    needs: "ActionService.SearchTargets",
    load: async () => (await automation()).targets,
  },
  {
    area: "automation",
    path: "/executions",
    word: "executions",
    scope: "instance",
    shows: "list",
    needs: "ActionService.SearchExecutions",
    load: async () => (await automation()).executions,
  },
  {
    area: "automation",
    path: "/deliveries",
    word: "deliveries",
    scope: "instance",
    shows: "list",
    needs: "DeliveryService.SearchDeliveries",
    load: async () => (await automation()).deliveries,
  },
  {
    area: "automation",
    path: "/events",
    word: "events",
    scope: "one",
    shows: "list",
    needs: "EventService.SearchEvents",
    load: async () => (await automation()).events,
  },
  {
    area: "automation",
    path: "/refusals",
    word: "refusals",
    scope: "instance",
    shows: "list",
    needs: "EventService.SearchRefusals",
    load: async () => (await automation()).refusals,
  },
  {
    area: "settings",
    path: "/administrators",
    word: "administrators",
    scope: "instance",
    shows: "list",
    needs: memberPermission("instance_id", "read"),
    load: async () => (await instance()).administrators,
  },
  {
    area: "settings",
    path: "/keys",
    word: "webKeys",
    scope: "instance",
    shows: "list",
    needs: "WebKeyService.ListWebKeys",
    load: async () => (await instance()).webKeys,
  },
  {
    area: "settings",
    path: "/mail",
    word: "mailProviders",
    scope: "instance",
    shows: "list",
    needs: "SMTPProviderService.SearchSMTPProviders",
    load: async () => (await messages()).mailProviders,
  },
  {
    area: "settings",
    path: "/sms",
    word: "smsProviders",
    scope: "instance",
    shows: "list",
    needs: "SMSProviderService.SearchSMSProviders",
    load: async () => (await messages()).smsProviders,
  },
  {
    area: "settings",
    path: "/settings/oidc",
    word: "oidcSettings",
    scope: "one",
    shows: "settings",
    needs: "OIDCSettingsService.ResolveOIDCSettings",
    load: async () => (await settings()).oidc,
  },
  {
    area: "settings",
    path: "/settings/security",
    word: "securitySettings",
    scope: "instance",
    shows: "settings",
    needs: "SecuritySettingsService.ResolveSecuritySettings",
    load: async () => (await settings()).security,
  },
  {
    area: "settings",
    path: "/settings/features",
    word: "features",
    scope: "instance",
    shows: "settings",
    needs: "FeatureService.ResolveFeatures",
    load: async () => (await settings()).features,
  },
  {
    area: "settings",
    path: "/limits",
    word: "limits",
    scope: "instance",
    shows: "limits",
    needs: "InstanceService.GetOwnInstance",
  },
  {
    area: "settings",
    path: "/transfer",
    word: "transfer",
    scope: "instance",
    shows: "transfer",
    needs: "ManagementService.Import",
  },
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
