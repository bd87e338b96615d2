/** Where all providers that speak OpenID Connect or OAuth send browsers back to. */
export const callbackPath = "/idps/callback";

/** Where gateways of JWT providers send browsers back to. */
export const jwtPath = "/idps/jwt";

/** Where a provider of SAML has browsers post its answers. */
export const acsPath = (idpId: string): string => `/idps/${encodeURIComponent(idpId)}/saml/acs`;

/** Where a provider of SAML finds what it must know of us, which is also our name there. */
export const metadataPath = (idpId: string): string =>
  `/idps/${encodeURIComponent(idpId)}/saml/metadata`;
