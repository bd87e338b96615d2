import type { Patch } from "../../eventstore/aggregate.ts";

export type AppType = "web" | "user_agent" | "native";
export type ResponseType = "code" | "id_token" | "id_token token";
export type GrantType =
  | "authorization_code"
  | "implicit"
  | "refresh_token"
  | "device_code"
  | "token_exchange";
export type AuthMethod = "basic" | "post" | "none" | "private_key_jwt";

/** How an app uses OpenID Connect. */
export type OidcConfig = {
  appType: AppType;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  responseTypes: ResponseType[];
  grantTypes: GrantType[];
  authMethodType: AuthMethod;
  accessTokenType: "bearer" | "jwt";
  accessTokenRoleAssertion: boolean;
  idTokenRoleAssertion: boolean;
  idTokenUserinfoAssertion: boolean;
  clockSkewMs: number;
  additionalOrigins: string[];
  devMode: boolean;
  /** Empty for none. */
  backChannelLogoutUri: string;
  idTokenSignedResponseAlg: string;
  strictAssertionAudience: boolean;
};

export type ApiConfig = { authMethodType: "basic" | "private_key_jwt" };

/** A key that assertions of an app are verified with; public, as PEM. Without a date it does not end. */
export type AppKey = { keyId: string; publicKey: string; expirationDate?: string };

/** What tokens of an app may do at the service's own APIs beyond what users of its organization give it (J4). */
export type ApiAccess = {
  /** Names of permissions, or `*` for all of them. */
  permissions: string[];
  /** Whether they count on the instance and in all of its organizations. */
  instance: boolean;
  organizationIds: string[];
  /** Users are not asked. */
  trusted: boolean;
};

/** What an app is beside its name: a client of OpenID Connect, or an API. */
export type AppConfig = { kind: "oidc"; oidc: OidcConfig } | { kind: "api"; api: ApiConfig };
export type AppPatch =
  | { kind: "oidc"; oidc: Patch<OidcConfig> }
  | { kind: "api"; api: Patch<ApiConfig> };
