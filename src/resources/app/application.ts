import type { EventOf } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow } from "../../storage/row-change.ts";
import {
  type AnyDefinition,
  bool,
  type ColumnKind,
  int,
  json,
  optionalJson,
  text,
} from "../../storage/table.ts";
import type { Nothing } from "../object/declared.ts";
import { field, indexesOfNamed } from "../object/fields.ts";
import { defineResource, fact } from "../object/resource.ts";
import { formerClientIds, holdClientId } from "../user/index.ts";
import type { ApiAccess, ApiConfig, AppConfig, AppKey, OidcConfig } from "./config.ts";
import { appKeys, appOrigins, keyRow, ofApp, originsOf } from "./rows.ts";

type WithConfig = { config: AppConfig };
type WithKeys = { keyIds: string[] };
type WithAccess = { apiAccess?: ApiAccess | undefined };

// Until its configuration follows, which it does in the same unit.
const initially: WithConfig & WithKeys & WithAccess = {
  keyIds: [],
  config: { kind: "api", api: { authMethodType: "basic" } },
};

/** The columns of the configuration of OpenID Connect; all but that of the method are empty for an API. */
export const oidcColumns = {
  authMethodType: text(),
  appType: text(),
  redirectUris: json<OidcConfig["redirectUris"]>(),
  postLogoutRedirectUris: json<OidcConfig["postLogoutRedirectUris"]>(),
  responseTypes: json<OidcConfig["responseTypes"]>(),
  grantTypes: json<OidcConfig["grantTypes"]>(),
  accessTokenType: text(),
  accessTokenRoleAssertion: bool(),
  idTokenRoleAssertion: bool(),
  idTokenUserinfoAssertion: bool(),
  clockSkewMs: int(),
  additionalOrigins: json<OidcConfig["additionalOrigins"]>(),
  devMode: bool(),
  backChannelLogoutUri: text(),
  idTokenSignedResponseAlg: text(),
  strictAssertionAudience: bool(),
} satisfies Record<keyof OidcConfig, AnyDefinition>;
const columns = { kind: text(), ...oidcColumns, apiAccess: optionalJson<ApiAccess>() };

const empty: Partial<Record<ColumnKind, unknown>> = { text: "", json: [], int: 0, bool: false };
const unconfigured = Object.fromEntries(
  Object.entries({ kind: text(), ...oidcColumns }).map(([name, { kind }]) => [name, empty[kind]]),
);

type Added<C> = C & { clientId: string };
// Apps and machine users share one space of client ids (C4).
const claims = ({ clientId }: { clientId: string }) => [holdClientId(clientId)];

const secretChanged = () => fact<Nothing>();
const keyAdded = () =>
  fact<AppKey, WithKeys>({
    evolve: ({ keyIds }, { keyId }) => ({ keyIds: [...keyIds, keyId] }),
    rows: (event) => [keyRow(event)],
  });
const keyRemoved = () =>
  fact<{ keyId: string }, WithKeys>({
    evolve: ({ keyIds }, { keyId }) => ({ keyIds: keyIds.filter((id) => id !== keyId) }),
    rows: (event) => [deleteRows(appKeys, { ...ofApp(event), id: event.payload.keyId })],
  });

/** Apps: clients of OpenID Connect, and APIs. Their secrets are never in events, their public keys are. */
const resource = defineResource({
  name: "app",
  events: "project.application",
  verbs: { added: "added", changed: "changed" },
  ownTexts: true,
  aggregateType: "application",
  table: "apps",
  owner: "org",
  states: true,
  fields: {
    projectId: field.text({ fixed: true }),
    clientId: field.text({ fixed: true, absent: "" }),
    name: field.text({ folded: true }),
    /** Who made the app, and last changed what answers for it, could do everything in the instance. */
    isOwnerMade: field.bool({ unsaid: false }),
  },
  initially,
  beside: { columns, first: () => unconfigured },
  tables: [appKeys, appOrigins, formerClientIds],
  kept: [],
  facts: {
    /** Its client id stays taken: whoever had it next would be taken for it (J7). */
    removed: fact<{ name: string; clientId: string }>({
      ends: true,
      rows: (event) => [
        deleteRows(appKeys, ofApp(event)),
        deleteRows(appOrigins, ofApp(event)),
        insertRow(formerClientIds, {
          ...ofApp(event),
          clientIdFolded: caseFold(event.payload.clientId),
        }),
      ],
    }),
    "config.oidc.added": fact<Added<OidcConfig>>(
      {
        evolve: (_, { clientId: __, ...oidc }): WithConfig => ({ config: { kind: "oidc", oidc } }),
        row: (config) => ({ ...config, kind: "oidc" }),
        rows: (event) => originsOf(event, event.payload),
      },
      { claims },
    ),
    "config.oidc.changed": fact<Partial<OidcConfig>, WithConfig>({
      evolve: ({ config }, changes) =>
        config.kind === "oidc"
          ? { config: { kind: "oidc", oidc: { ...config.oidc, ...changes } } }
          : {},
      row: (changes) => changes,
      rows: (event) => originsOf(event, event.payload),
    }),
    "config.oidc.secret.changed": secretChanged(),
    "config.api.added": fact<Added<ApiConfig>>(
      {
        evolve: (_, { clientId: __, ...api }): WithConfig => ({ config: { kind: "api", api } }),
        row: (config) => ({ ...config, kind: "api" }),
      },
      { claims },
    ),
    "config.api.changed": fact<Partial<ApiConfig>, WithConfig>({
      evolve: ({ config }, changes) =>
        config.kind === "api"
          ? { config: { kind: "api", api: { ...config.api, ...changes } } }
          : {},
      row: (changes) => changes,
    }),
    "config.api.secret.changed": secretChanged(),
    "oidc.key.added": keyAdded(),
    "oidc.key.removed": keyRemoved(),
    "api.key.added": keyAdded(),
    "api.key.removed": keyRemoved(),
    /** Without access it was taken away. Ends what the app may do from before there was such an access. */
    "api_access.changed": fact<{ clientId: string; access?: ApiAccess }>({
      evolve: (_, { access: apiAccess }) => ({ apiAccess }),
      row: ({ access }) => ({ apiAccess: access ?? null }),
    }),
    /** Whether whoever made the app, and changed what answers for it, could do everything in the instance. */
    "maker.changed": fact<{ isOwner: boolean }>({
      sets: ({ isOwner }) => ({ isOwnerMade: isOwner }),
    }),
    /** What answers for the app is another: nobody's consent to our APIs counts any more. */
    "consents.ended": fact<{ clientId: string }>(),
  },
  indexes: [
    { columns: ["instanceId", "clientId"] },
    { columns: ["instanceId", "projectId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "id"] },
    ...indexesOfNamed,
  ],
});

export const { events: appEvents, table: apps, aggregate: app, missing: appNotFound } = resource;
export { resource as appResource };
/** The types of the events that say how an app uses OpenID Connect. */
export const oidcConfigured: readonly string[] = [
  "project.application.config.oidc.added",
  "project.application.config.oidc.changed",
];

export type AppEvent = EventOf<typeof appEvents>;
export type App = NonNullable<typeof app.initial>;
