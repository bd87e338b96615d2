import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ApiAccess as ApiAccessMessage,
  APIAuthMethodType,
  type App as AppMessage,
  type AppSchema,
  type GetAppSchema,
  OIDCAppType,
  type OIDCApp,
  OIDCAuthMethodType,
  OIDCGrantType,
  OIDCResponseType,
  OIDCTokenType,
  type PatchApp,
  type PatchOIDCApp,
} from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import type { Patch } from "../../eventstore/aggregate.ts";
import { toOrganizationOwnedDetails } from "../object/details.ts";
import { toDuration, toMs } from "../object/duration.ts";
import { toState } from "../object/filters.ts";
import { complianceProblems, requireSound } from "./compliance.ts";
import { wordsOf } from "../object/words.ts";
import type {
  ApiAccess,
  AppConfig,
  AppPatch,
  GrantType,
  OidcConfig,
  ResponseType,
} from "./config.ts";
import { type AppRow, oidcOf } from "./queries.ts";

const appTypes = wordsOf(OIDCAppType, "web", "OIDC_APP_TYPE_");
const grantTypes = wordsOf(OIDCGrantType, "authorization_code", "OIDC_GRANT_TYPE_");
const authMethods = wordsOf(OIDCAuthMethodType, "basic", "OIDC_AUTH_METHOD_TYPE_");
const tokenTypes = wordsOf(OIDCTokenType, "bearer", "OIDC_TOKEN_TYPE_");
const apiAuthMethods = wordsOf(APIAuthMethodType, "basic", "API_AUTH_METHOD_TYPE_");

// A space stands between the words of a response type.
const responseMembers: Record<ResponseType, OIDCResponseType> = {
  code: OIDCResponseType.OIDC_RESPONSE_TYPE_CODE,
  id_token: OIDCResponseType.OIDC_RESPONSE_TYPE_ID_TOKEN,
  "id_token token": OIDCResponseType.OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN,
};
const toResponseType = (member: OIDCResponseType): ResponseType =>
  (["id_token", "id_token token"] as const).find((type) => responseMembers[type] === member) ??
  "code";

const defaultAlg = "RS256";

/** The configuration of a new app. Validation has proven that it has a kind. */
export function toConfig({ config }: AppMessage): AppConfig {
  if (config.case === "api") {
    return {
      kind: "api",
      api: { authMethodType: apiAuthMethods.word(config.value.authMethodType) },
    };
  }
  if (config.case !== "oidc") throw new Error("validation requires the kind of the app");
  return { kind: "oidc", oidc: toOidc(config.value) };
}

/**
 * The configuration of an app that comes from elsewhere, if it could ever be right.
 *
 * @throws INVALID_ARGUMENT REDIRECT_URI_INVALID, ORIGIN_INVALID, GRANT_TYPE_MISSING
 */
export function toSoundConfig(message: AppMessage): AppConfig {
  const config = toConfig(message);
  if (config.kind === "oidc") requireSound(config.oidc);
  return config;
}

export function toOidc(message: OIDCApp): OidcConfig {
  const grants = message.grantTypes.map(grantTypes.word);
  const grantsInForce: GrantType[] = grants.length === 0 ? ["authorization_code"] : grants;
  const responses = message.responseTypes.map(toResponseType);
  return {
    appType: appTypes.word(message.appType),
    redirectUris: message.redirectUris,
    postLogoutRedirectUris: message.postLogoutRedirectUris,
    responseTypes:
      responses.length === 0 && grantsInForce.includes("authorization_code") ? ["code"] : responses,
    grantTypes: grantsInForce,
    authMethodType: authMethods.word(message.authMethodType),
    accessTokenType: tokenTypes.word(message.accessTokenType),
    accessTokenRoleAssertion: message.accessTokenRoleAssertion,
    idTokenRoleAssertion: message.idTokenRoleAssertion,
    idTokenUserinfoAssertion: message.idTokenUserinfoAssertion,
    clockSkewMs: message.clockSkew === undefined ? 0 : toMs(message.clockSkew),
    additionalOrigins: message.additionalOrigins,
    devMode: message.devMode,
    backChannelLogoutUri: message.backChannelLogoutUri,
    idTokenSignedResponseAlg: message.idTokenSignedResponseAlg || defaultAlg,
    strictAssertionAudience: message.strictAssertionAudience,
  };
}

export const toApiAccess = (message: ApiAccessMessage): ApiAccess => {
  const { permissions, instance, organizationIds, trusted } = message;
  return { permissions, instance, organizationIds, trusted };
};

export function toPatch({ name, config }: PatchApp): {
  name: string | undefined;
  config: AppPatch | undefined;
} {
  switch (config.case) {
    case "api": {
      const method = config.value.authMethodType;
      const authMethodType = method === undefined ? undefined : apiAuthMethods.word(method);
      return { name, config: { kind: "api", api: { authMethodType } } };
    }
    case "oidc":
      return { name, config: { kind: "oidc", oidc: toOidcPatch(config.value) } };
    default:
      return { name, config: undefined };
  }
}

const given = <T, R>(value: T | undefined, convert: (value: T) => R): R | undefined =>
  value === undefined ? undefined : convert(value);

function toOidcPatch(message: PatchOIDCApp): Patch<OidcConfig> {
  // An empty list cannot be told from an absent one, so lists are emptied by name.
  const list = <T, R>(name: string, values: T[], convert: (value: T) => R): R[] | undefined =>
    message.clear.includes(name) ? [] : values.length === 0 ? undefined : values.map(convert);
  const same = (text: string) => text;
  return {
    appType: given(message.appType, appTypes.word),
    redirectUris: list("redirect_uris", message.redirectUris, same),
    postLogoutRedirectUris: list("post_logout_redirect_uris", message.postLogoutRedirectUris, same),
    responseTypes: list("response_types", message.responseTypes, toResponseType),
    grantTypes: list("grant_types", message.grantTypes, grantTypes.word),
    authMethodType: given(message.authMethodType, authMethods.word),
    accessTokenType: given(message.accessTokenType, tokenTypes.word),
    accessTokenRoleAssertion: message.accessTokenRoleAssertion,
    idTokenRoleAssertion: message.idTokenRoleAssertion,
    idTokenUserinfoAssertion: message.idTokenUserinfoAssertion,
    clockSkewMs: given(message.clockSkew, toMs),
    additionalOrigins: list("additional_origins", message.additionalOrigins, same),
    devMode: message.devMode,
    backChannelLogoutUri: message.backChannelLogoutUri,
    idTokenSignedResponseAlg: message.idTokenSignedResponseAlg,
    strictAssertionAudience: message.strictAssertionAudience,
  };
}

export const problemsOf = (config: AppConfig): string[] =>
  config.kind === "oidc" ? complianceProblems(config.oidc) : [];

export function toGetApp(
  row: AppRow,
  isActive: boolean,
  isLegacy: boolean,
): MessageInitShape<typeof GetAppSchema> {
  const { projectId, name, clientId } = row;
  const oidc = row.kind === "oidc" ? oidcOf(row) : undefined;
  const app: MessageInitShape<typeof AppSchema> = {
    projectId,
    name,
    config:
      oidc === undefined
        ? { case: "api", value: { authMethodType: apiAuthMethods.member(row.authMethodType) } }
        : { case: "oidc", value: fromOidc(oidc) },
    ...(row.apiAccess === null && !isLegacy
      ? {}
      : { apiAccess: { ...row.apiAccess, legacy: isLegacy } }),
  };
  return {
    details: toOrganizationOwnedDetails(row),
    state: toState(isActive ? "active" : "inactive"),
    app,
    clientId,
    complianceProblems: oidc === undefined ? [] : complianceProblems(oidc),
  };
}

const fromOidc = ({ clockSkewMs, ...oidc }: OidcConfig) => ({
  ...oidc,
  appType: appTypes.member(oidc.appType),
  responseTypes: oidc.responseTypes.map((type) => responseMembers[type]),
  grantTypes: oidc.grantTypes.map(grantTypes.member),
  authMethodType: authMethods.member(oidc.authMethodType),
  accessTokenType: tokenTypes.member(oidc.accessTokenType),
  clockSkew: toDuration(clockSkewMs),
});
