import { invalidField } from "../../errors.ts";
import type { GrantType, OidcConfig, ResponseType } from "./config.ts";
import {
  redirectKind,
  requireOrigin,
  requireRedirectUri,
  requireSafeRedirect,
} from "./redirect-uri.ts";

/**
 * What in a configuration does not fit the type of the app, in stable words (specification 11.5). Such apps are stored; their
 * redirects work in development mode only.
 */
export function complianceProblems(oidc: OidcConfig): string[] {
  return [...new Set([...grantProblems(oidc), ...redirectProblems(oidc), ...methodProblems(oidc)])];
}

function grantProblems({ grantTypes }: OidcConfig): string[] {
  const has = (grant: GrantType) => grantTypes.includes(grant);
  const refreshes = has("refresh_token") && !has("authorization_code") && !has("device_code");
  return refreshes ? ["GrantType.Refresh.NoAuthCode"] : [];
}

function methodProblems({ appType, authMethodType }: OidcConfig): string[] {
  if (authMethodType === "none" || appType === "web") return [];
  return [`${appType === "native" ? "Native" : "UserAgent"}.AuthMethodType.NotNone`];
}

function redirectProblems(oidc: OidcConfig): string[] {
  const { redirectUris, grantTypes } = oidc;
  const redirects = grantTypes.includes("authorization_code") || grantTypes.includes("implicit");
  if (redirectUris.length === 0) return redirects ? ["NoRedirectUris"] : [];
  const isHttp = redirectUris.some((uri) => redirectKind(uri) === "http");
  const problems = [
    ...redirectUris.flatMap((uri) => problemsOfRedirect(oidc, uri)),
    // Told only: those that are stored go on working.
    ...(isHttp ? ["RedirectUris.HttpOnlyForDevMode"] : []),
  ];
  const isMixed = usesCode(oidc) && usesImplicit(oidc);
  return isMixed && problems.length === 0 ? ["NotAllCombinationsAreAllowed"] : problems;
}

/** The redirects that do not fit the type of the app: they work in development mode only, in which none is refused. */
export const refusedRedirects = (oidc: OidcConfig): string[] =>
  oidc.devMode ? [] : oidc.redirectUris.filter((uri) => problemsOfRedirect(oidc, uri).length > 0);

/** What is wrong with one redirect for this app. */
function problemsOfRedirect(oidc: OidcConfig, uri: string): string[] {
  const kind = redirectKind(uri);
  const isNative = oidc.appType === "native";
  if (kind === "https") return [];
  if (kind === "loopback" && isNative) return [];
  if (kind === "custom") {
    return [
      ...(usesCode(oidc) && !isNative ? ["Code.RedirectUris.CustomOnlyForNative"] : []),
      ...(usesImplicit(oidc) ? ["Implicit.RedirectUris.CustomNotAllowed"] : []),
    ];
  }
  if (isNative) return ["Native.RedirectUris.MustBeHttpLocalhost"];
  return [
    ...(usesCode(oidc) && oidc.appType === "user_agent"
      ? ["Code.RedirectUris.HttpOnlyForWeb"]
      : []),
    ...(usesImplicit(oidc) ? ["Implicit.RedirectUris.HttpNotAllowed"] : []),
  ];
}

const usesCode = ({ responseTypes }: OidcConfig) => responseTypes.includes("code");
const usesImplicit = ({ responseTypes }: OidcConfig) =>
  responseTypes.some((type) => type !== "code");

const grantsFor: Record<ResponseType, readonly GrantType[]> = {
  code: ["authorization_code", "device_code"],
  id_token: ["implicit"],
  "id_token token": ["implicit"],
};

/**
 * Refuses a configuration that could never be right: redirects that are dangerous, origins that are none, response types
 * without a grant type that they need (specification 11.5).
 *
 * @param before as it is stored: redirects that are there stay
 * @throws INVALID_ARGUMENT REDIRECT_URI_INVALID, ORIGIN_INVALID, GRANT_TYPE_MISSING
 */
export function requireSound(oidc: OidcConfig, before?: OidcConfig): void {
  requireRedirects(oidc, "redirect_uris", oidc.redirectUris, before?.redirectUris);
  const { postLogoutRedirectUris: lastly } = oidc;
  requireRedirects(oidc, "post_logout_redirect_uris", lastly, before?.postLogoutRedirectUris);
  oidc.additionalOrigins.forEach((origin, i) =>
    requireOrigin(origin, `app.oidc.additional_origins[${i}]`),
  );
  if (oidc.backChannelLogoutUri !== "") {
    requireRedirectUri(oidc.backChannelLogoutUri, "app.oidc.back_channel_logout_uri");
  }
  for (const type of oidc.responseTypes) {
    if (grantsFor[type].some((grant) => oidc.grantTypes.includes(grant))) continue;
    throw invalidField(
      "app.oidc.grant_types",
      "GRANT_TYPE_MISSING",
      `must have ${grantsFor[type].join(" or ")} for the response type ${type}`,
      { metadata: { response_type: type } },
    );
  }
}

function requireRedirects(
  { devMode }: OidcConfig,
  name: string,
  uris: readonly string[],
  stored: readonly string[] = [],
): void {
  uris.forEach((uri, i) => {
    const field = `app.oidc.${name}[${i}]`;
    requireRedirectUri(uri, field);
    if (!stored.includes(uri)) requireSafeRedirect(uri, field, devMode);
  });
}
