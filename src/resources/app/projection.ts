import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import {
  bool,
  instant,
  int,
  int64,
  json,
  optionalInstant,
  optionalJson,
  table,
  text,
} from "../../storage/table.ts";
import { type ApiAccess, appEvents, type AppKey, type OidcConfig } from "./events.ts";
import { formerClientIds } from "../user/index.ts";
import { originOf } from "./redirect-uri.ts";

/** Apps. The columns from `appType` on are those of OpenID Connect, empty for an API. */
export const apps = table(
  "apps",
  {
    instanceId: text(),
    id: text(),
    organizationId: text(),
    projectId: text(),
    clientId: text(),
    name: text(),
    nameFolded: text(),
    state: text(),
    kind: text(),
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
    apiAccess: optionalJson<ApiAccess>(),
    isOwnerMade: bool(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "clientId"] },
      { columns: ["instanceId", "projectId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

export const appKeys = table(
  "app_keys",
  {
    instanceId: text(),
    appId: text(),
    id: text(),
    publicKey: text(),
    creatorId: text(),
    creationDate: instant(),
    expirationDate: optionalInstant(),
  },
  { key: ["instanceId", "appId", "id"] },
);

/**
 * Whom tokens of an app were for before audiences were references: an app with the service's own project among them had
 * access to our APIs, and keeps it until it ends (decision 0088). Nothing is added by what is issued now.
 */
export const formerAudiences = table(
  "app_former_audiences",
  { instanceId: text(), clientId: text(), audience: text() },
  { key: ["instanceId", "clientId", "audience"] },
);

/** The origins that browsers may call from for an app. They come of its redirects, or are named beside them. */
export const appOrigins = table(
  "app_origins",
  { instanceId: text(), appId: text(), source: text(), position: int(), origin: text() },
  {
    key: ["instanceId", "appId", "source", "position"],
    indexes: [{ columns: ["instanceId", "origin"] }],
  },
);

type Event = { instanceId: string; aggregateId: string };
type Touch = Parameters<typeof touch>[0] & { editorId: string };
const row = ({ instanceId, aggregateId }: Event) => ({ instanceId, id: aggregateId });
const ofApp = ({ instanceId, aggregateId }: Event) => ({ instanceId, appId: aggregateId });
const touched = (event: Event & Touch) => [updateRows(apps, row(event), touch(event))];

const noOidc = {
  appType: "",
  redirectUris: [],
  postLogoutRedirectUris: [],
  responseTypes: [],
  grantTypes: [],
  accessTokenType: "",
  accessTokenRoleAssertion: false,
  idTokenRoleAssertion: false,
  idTokenUserinfoAssertion: false,
  clockSkewMs: 0,
  additionalOrigins: [],
  devMode: false,
  backChannelLogoutUri: "",
  idTokenSignedResponseAlg: "",
  strictAssertionAudience: false,
};

function originsOf(event: Event, { redirectUris, additionalOrigins }: Partial<OidcConfig>) {
  const replace = (source: string, origins: readonly (string | undefined)[]): RowChange[] => [
    deleteRows(appOrigins, { ...ofApp(event), source }),
    ...origins.flatMap((origin, position) =>
      origin === undefined
        ? []
        : [insertRow(appOrigins, { ...ofApp(event), source, position, origin })],
    ),
  ];
  return [
    ...(redirectUris === undefined ? [] : replace("redirect", redirectUris.map(originOf))),
    ...(additionalOrigins === undefined ? [] : replace("additional", additionalOrigins)),
  ];
}

const addKey = (event: Event & Touch & { payload: AppKey }): RowChange[] => {
  const { keyId, publicKey, expirationDate } = event.payload;
  return [
    insertRow(appKeys, {
      ...ofApp(event),
      id: keyId,
      publicKey,
      creatorId: event.editorId,
      creationDate: event.createdAt,
      ...(expirationDate === undefined ? {} : { expirationDate: new Date(expirationDate) }),
    }),
    ...touched(event),
  ];
};

const removeKey = (event: Event & Touch & { payload: { keyId: string } }): RowChange[] => [
  deleteRows(appKeys, { ...ofApp(event), id: event.payload.keyId }),
  ...touched(event),
];

export const appProjection = projection(
  "apps",
  [apps, appKeys, appOrigins, formerClientIds],
  on(appEvents, {
    "project.application.added": (event) => [
      insertRow(apps, {
        ...begin(event),
        ...event.payload,
        ...noOidc,
        organizationId: event.owner.id,
        nameFolded: caseFold(event.payload.name),
        state: "active",
        clientId: "",
        kind: "",
        authMethodType: "",
        isOwnerMade: false,
      }),
    ],
    "project.application.changed": (event) => {
      const { name } = event.payload;
      const named = { name, nameFolded: caseFold(name) };
      return [updateRows(apps, row(event), { ...named, ...touch(event) })];
    },
    "project.application.deactivated": (event) => [
      updateRows(apps, row(event), { state: "inactive", ...touch(event) }),
    ],
    "project.application.reactivated": (event) => [
      updateRows(apps, row(event), { state: "active", ...touch(event) }),
    ],
    "project.application.removed": (event) => [
      deleteRows(apps, row(event)),
      deleteRows(appKeys, ofApp(event)),
      deleteRows(appOrigins, ofApp(event)),
      insertRow(formerClientIds, {
        ...ofApp(event),
        clientIdFolded: caseFold(event.payload.clientId),
      }),
    ],
    "project.application.config.oidc.added": (event) => [
      updateRows(apps, row(event), { ...event.payload, kind: "oidc", ...touch(event) }),
      ...originsOf(event, event.payload),
    ],
    "project.application.config.oidc.changed": (event) => [
      updateRows(apps, row(event), { ...event.payload, ...touch(event) }),
      ...originsOf(event, event.payload),
    ],
    "project.application.config.api.added": (event) => [
      updateRows(apps, row(event), { ...event.payload, kind: "api", ...touch(event) }),
    ],
    "project.application.config.api.changed": (event) => [
      updateRows(apps, row(event), { ...event.payload, ...touch(event) }),
    ],
    "project.application.config.oidc.secret.changed": touched,
    "project.application.config.api.secret.changed": touched,
    "project.application.oidc.key.added": addKey,
    "project.application.api.key.added": addKey,
    "project.application.oidc.key.removed": removeKey,
    "project.application.api.key.removed": removeKey,
    "project.application.api_access.changed": (event) => [
      updateRows(apps, row(event), { apiAccess: event.payload.access ?? null, ...touch(event) }),
    ],
    "project.application.maker.changed": (event) => [
      updateRows(apps, row(event), { isOwnerMade: event.payload.isOwner, ...touch(event) }),
    ],
    "project.application.consents.ended": touched,
  }),
);

/**
 * What apps could do before there was an access to our APIs.
 * @param former what tells of tokens and consents of before
 */
export const formerAccessProjection = (...former: ReturnType<typeof on>[]): Projection =>
  projection(
    "app_former_audiences",
    [formerAudiences],
    ...former,
    on(appEvents, {
      "project.application.api_access.changed": ({ instanceId, payload: { clientId } }) => [
        deleteRows(formerAudiences, { instanceId, clientId }),
      ],
      "project.application.removed": ({ instanceId, payload: { clientId } }) => [
        deleteRows(formerAudiences, { instanceId, clientId }),
      ],
    }),
  );
