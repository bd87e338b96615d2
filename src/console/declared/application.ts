import type { JsonObject } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { SMTPProviderService } from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_service_pb.ts";
import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import {
  type Action,
  at,
  begins,
  type Field,
  type Given,
  type Kind,
  type Listed,
  present,
  type Rows,
  type Shown,
  textAt,
} from "./declare.ts";
import { organizationsOf, usersOf } from "./grants.ts";
import { guideOf, provesBySecret } from "./guide.ts";
import { activity, historyOf, id, newKey, ownFacts, withdraw } from "./shared.ts";

const app = AppService.method;
const isOidc = (object: JsonObject): boolean => at(object, "app.oidc") !== undefined;
const page = { id: { page: "details.id" } } as const;

const secrets = [
  { path: "client_id", as: "code", isKept: true },
  { path: "client_secret" },
] as const;
/** What keeps redirects from working while insecure ones are not allowed, and what clients of that type do otherwise. */
const problem: Shown = {
  path: "compliance_problems",
  values: {
    "Code.RedirectUris.HttpOnlyForWeb": "problemHttp",
    "Implicit.RedirectUris.HttpNotAllowed": "problemHttp",
    "RedirectUris.HttpOnlyForDevMode": "problemDevMode",
    "Native.RedirectUris.MustBeHttpLocalhost": "problemHttpNative",
    "Code.RedirectUris.CustomOnlyForNative": "problemScheme",
    "Implicit.RedirectUris.CustomNotAllowed": "problemScheme",
    NoRedirectUris: "problemNoRedirect",
    NotAllCombinationsAreAllowed: "problemResponses",
    "GrantType.Refresh.NoAuthCode": "problemRefresh",
    "Native.AuthMethodType.NotNone": "problemProof",
    "UserAgent.AuthMethodType.NotNone": "problemProof",
  },
};
const problems = [problem] as const;

const redirects: readonly Field[] = [
  { path: "app.oidc.redirect_uris", isRequired: true, as: "redirects" },
  { path: "app.oidc.post_logout_redirect_uris" },
  { path: "app.oidc.dev_mode" },
];
/** The code flow with refresh tokens, which every kind of app that people log in to is right with. */
const codeFlow = (type: string, authentication: string): Given => ({
  "app.oidc.app_type": { is: `OIDC_APP_TYPE_${type}` },
  "app.oidc.auth_method_type": { is: `OIDC_AUTH_METHOD_TYPE_${authentication}` },
  "app.oidc.response_types": { is: ["OIDC_RESPONSE_TYPE_CODE"] },
  "app.oidc.grant_types": {
    is: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
  },
});

/** Makes an app of one of the kinds that there are; what fits a kind is set with it. */
export const addApp = (given: Given, fields: readonly Field[]): Action => ({
  word: "addApplication",
  method: app.createApp,
  given,
  fields: [
    ...fields,
    { path: "app.name" },
    {
      word: "appKind",
      ways: [
        { word: "appWeb", given: codeFlow("WEB", "BASIC"), fields: redirects },
        { word: "appSpa", given: codeFlow("USER_AGENT", "NONE"), fields: redirects },
        { word: "appNative", given: codeFlow("NATIVE", "NONE"), fields: redirects },
        {
          word: "appDevice",
          given: {
            ...codeFlow("NATIVE", "NONE"),
            "app.oidc.grant_types": {
              is: ["OIDC_GRANT_TYPE_DEVICE_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
            },
          },
        },
        {
          word: "appApi",
          given: { "app.api": { is: {} } },
          fields: [{ path: "app.api.auth_method_type", isRequired: true }],
        },
      ],
    },
  ],
  once: secrets,
  outcome: problems,
  leadsTo: "/applications/$id",
  tab: "guide",
});

const oidcFields: readonly { path: string }[] = [
  "post_logout_redirect_uris",
  "app_type",
  "auth_method_type",
  "response_types",
  "grant_types",
  "access_token_type",
  "access_token_role_assertion",
  "id_token_role_assertion",
  "id_token_userinfo_assertion",
  "clock_skew",
  "additional_origins",
  "dev_mode",
  "back_channel_logout_uri",
  "id_token_signed_response_alg",
  "strict_assertion_audience",
].map((name) => ({ path: `app.oidc.${name}` }));

const keys: Rows = {
  word: "keys",
  tab: "credentials",
  hint: "hintKeys",
  search: { method: app.listKeys, request: (object) => ({ id: textAt(object, "details.id") }) },
  columns: [
    { path: "key_id", word: "id", as: "code" },
    { path: "creation_date" },
    { path: "expiration_date" },
    { path: "last_use_date" },
    { path: "creator_id", word: "maker", as: "person" },
  ],
  add: [
    {
      word: "addKey",
      method: app.addKey,
      given: page,
      ...newKey,
    },
    {
      word: "anotherSecret",
      about: "about_anotherSecret",
      method: app.regenerateSecret,
      given: page,
      isDangerous: true,
      once: [{ path: "client_secret" }],
    },
  ],
  actions: [
    {
      word: "remove",
      method: app.removeKey,
      isDangerous: true,
      given: { ...page, key_id: { of: "key_id" } },
    },
  ],
};

const consents: Rows = {
  word: "consentsOfApplication",
  tab: "access",
  about: "about_consentsOfApplication",
  search: {
    method: ConsentService.method.searchConsents,
    request: (object) => ({ filters: [{ client_id: textAt(object, "client_id") }] }),
  },
  columns: [
    { path: "user_id", word: "field_user", as: "person" },
    { path: "scopes" },
    { path: "access", word: "access" },
    { path: "last_used", word: "field_last_use_date" },
  ],
  actions: [withdraw],
};

const refused: Pick<Rows, "word" | "tab" | "search" | "columns"> = {
  word: "refusals",
  tab: "refusals",
  search: {
    method: EventService.method.searchRefusals,
    request: (object) => ({ filters: [{ client: { id: textAt(object, "client_id") } }] }),
    isDescending: true,
  },
  columns: [
    { path: "kind" },
    { path: "reason", word: "reason", as: "reason" },
    { path: "user_id", word: "who", as: "person" },
    { path: "operation", as: "code" },
    { path: "count" },
    { path: "last_date" },
  ],
};

/** A redirect address that is not registered is not noted: whoever saw the refused page has the address. */
const refusedToClient: Rows = {
  ...refused,
  when: isOidc,
  about: "about_refusalsOfApplication",
  add: [
    {
      word: "editRedirects",
      method: app.patchApp,
      given: page,
      isChange: true,
      fields: [{ path: "app.oidc.redirect_uris", as: "redirects" }],
      outcome: problems,
    },
  ],
};

/** An API has no redirect address. */
const refusedToApi: Rows = {
  ...refused,
  when: (object) => !isOidc(object),
  about: "about_refusalsOfApi",
};

export const application: Kind = {
  back: { to: "/applications", word: "applications" },
  get: app.getApp,
  object: "app",
  title: (object) => textAt(object, "app.name"),
  organization: "details.resource_owner.id",
  project: "app.project_id",
  facts: [
    { path: "app.name" },
    { path: "client_id", as: "code" },
    { path: "app.project_id", word: "project", as: "project" },
    { path: "details.resource_owner.id", word: "organization", as: "organization" },
    { path: "state" },
    problem,
    { path: "app.oidc.redirect_uris" },
    ...oidcFields,
    { path: "app.api.auth_method_type" },
    { path: "app.api_access", as: "json" },
    ...ownFacts,
  ],
  actions: [
    {
      word: "edit",
      method: app.patchApp,
      given: id,
      isChange: true,
      when: isOidc,
      fields: [
        { path: "app.name" },
        { path: "app.oidc.redirect_uris", as: "redirects" },
        ...oidcFields,
      ],
      clears: "app.oidc.clear",
      once: [{ path: "client_secret" }],
      outcome: problems,
    },
    {
      word: "editApi",
      method: app.patchApp,
      given: id,
      isChange: true,
      when: (object) => !isOidc(object),
      fields: [{ path: "app.name" }, { path: "app.api.auth_method_type" }],
      once: [{ path: "client_secret" }],
    },
    {
      word: "setApiAccess",
      method: app.patchApp,
      given: id,
      fields: [
        { path: "app.api_access.permissions", initial: { of: "app.api_access.permissions" } },
        { path: "app.api_access.instance", initial: { of: "app.api_access.instance" } },
        {
          path: "app.api_access.organization_ids",
          initial: { of: "app.api_access.organization_ids" },
        },
        { path: "app.api_access.trusted", initial: { of: "app.api_access.trusted" } },
      ],
      asFor: SMTPProviderService.method.createSMTPProvider,
    },
    {
      word: "deactivate",
      method: app.deactivateApp,
      about: "about_deactivateApplication",
      given: id,
      isDangerous: true,
      when: (object) => activity(object, true),
      undo: { method: app.activateApp, given: id },
    },
    {
      word: "activate",
      method: app.activateApp,
      given: id,
      when: (object) => activity(object, false),
    },
    {
      word: "delete",
      method: app.deleteApp,
      about: "about_deleteApplication",
      given: id,
      isDangerous: true,
      leadsTo: "/applications",
    },
  ],
  rows: [
    keys,
    refusedToClient,
    refusedToApi,
    usersOf("app.project_id"),
    organizationsOf("app.project_id"),
    consents,
  ],
  history: historyOf("application"),
  guide: guideOf,
  hasSecret: provesBySecret,
};

export const applications: Listed = {
  search: {
    method: app.searchApps,
    request: ({ q, org, state }) => ({
      sorting_column: "APP_FIELD_NAME_NAME",
      filters: present([
        org !== undefined && { organization: { org_id: org } },
        q !== "" && { name: begins(q) },
        state !== "" && { state: { state } },
      ]),
    }),
  },
  states: ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"],
  watches: ["project.application"],
  hint: "hintApplications",
  columns: [
    { path: "app.name" },
    { path: "client_id", as: "code" },
    { path: "app.project_id", word: "project", as: "project" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/applications/$id", id: "details.id" },
  add: [addApp({}, [{ path: "app.project_id", word: "project", as: "project" }])],
};
