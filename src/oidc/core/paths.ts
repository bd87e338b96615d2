/** Where the endpoints are, below the issuer (specification 4.3). */
export const discoveryPath = "/.well-known/openid-configuration";
export const keysPath = "/oauth/v2/keys";
export const tokenPath = "/oauth/v2/token";
export const introspectionPath = "/oauth/v2/introspect";
export const revocationPath = "/oauth/v2/revoke";
export const deviceAuthorizationPath = "/oauth/v2/device_authorization";
export const userinfoPath = "/oidc/v1/userinfo";
/** The page where somebody lets a device in. */
export const devicePagePath = "/device";
