import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";
import { holdClientId } from "../user/index.ts";

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

type Added<C> = C & { clientId: string };
type Nothing = Record<string, never>;

// Apps and machine users share one space of client ids (C4).
const config = <C>() => payload<Added<C>>({ claims: ({ clientId }) => [holdClientId(clientId)] });

/** Facts about an app: its secret is never among them, its public keys are. */
export const appEvents = defineEvents(
  "project.application",
  {
    added: payload<{ projectId: string; name: string }>(),
    changed: payload<{ name: string }>(),
    deactivated: payload<Nothing>(),
    reactivated: payload<Nothing>(),
    /** Its client id stays taken: whoever had it next would be taken for it (J7). */
    removed: payload<{ name: string; clientId: string }>(),
    "config.oidc.added": config<OidcConfig>(),
    "config.oidc.changed": payload<Partial<OidcConfig>>(),
    "config.oidc.secret.changed": payload<Nothing>(),
    "config.api.added": config<ApiConfig>(),
    "config.api.changed": payload<Partial<ApiConfig>>(),
    "config.api.secret.changed": payload<Nothing>(),
    "oidc.key.added": payload<AppKey>(),
    "oidc.key.removed": payload<{ keyId: string }>(),
    "api.key.added": payload<AppKey>(),
    "api.key.removed": payload<{ keyId: string }>(),
    /** Without access it was taken away. Ends what the app may do from before there was such an access. */
    "api_access.changed": payload<{ clientId: string; access?: ApiAccess }>(),
    /** Whether whoever made the app, and changed what answers for it, could do everything in the instance. */
    "maker.changed": payload<{ isOwner: boolean }>(),
    /** What answers for the app is another: nobody's consent to our APIs counts any more. */
    "consents.ended": payload<{ clientId: string }>(),
  },
  "application",
);

export type AppEvent = EventOf<typeof appEvents>;
