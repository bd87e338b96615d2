import { invalidField } from "../../errors.ts";

// Opened in a browser, these run what they carry, or read what is on the device.
const forbiddenSchemes: ReadonlySet<string> = new Set([
  "javascript",
  "data",
  "vbscript",
  "file",
  "blob",
  "filesystem",
  "about",
  "view-source",
]);

/** Characters of RFC 3986, but for the wildcard `*`; a per cent sign stands before two hexadecimal digits. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})+$/;

/**
 * Refuses what no browser may ever be sent to (specification 10.8; D03). What else does not fit the type of an
 * app is told by `complianceProblems`, and stored.
 *
 * @throws INVALID_ARGUMENT REDIRECT_URI_INVALID naming the field
 */
export function requireRedirectUri(uri: string, field: string): void {
  const wrong = wrongWith(uri);
  if (wrong !== undefined) throw invalidField(field, "REDIRECT_URI_INVALID", wrong);
}

function wrongWith(uri: string): string | undefined {
  const [, scheme = "", rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(uri) ?? [];
  if (rest === "") return "must be absolute: a scheme, a colon and more";
  if (forbiddenSchemes.has(scheme.toLowerCase())) return `must not be of the scheme ${scheme}`;
  if (uri.includes("#")) return "must have no fragment";
  if (uri.includes("*"))
    return "must have no wildcard: redirects are compared character by character";
  if (!uriCharacters.test(uri)) return "must have only the characters of URIs (RFC 3986)";
  const [, authority] = /^\/\/([^/?]*)/.exec(rest) ?? [];
  if (authority?.includes("@")) return "must carry no user name";
  if (isWeb(scheme) && (authority === undefined || authority === "")) {
    return "must name a host after //";
  }
  return URL.canParse(uri) ? undefined : "must be a URI";
}

/**
 * Refuses what must not be registered anew (J18): a private scheme without a dot, which belongs to nobody and may be a
 * program of the system, and plain http that leaves the device, unless the app is in development mode.
 *
 * @throws INVALID_ARGUMENT REDIRECT_URI_INVALID naming the field
 */
export function requireSafeRedirect(uri: string, field: string, isDevelopment: boolean): void {
  const kind = redirectKind(uri);
  if (kind === "custom" && !new URL(uri).protocol.includes(".")) {
    const rule = "must be https, or of a private scheme with a dot such as com.example.app";
    throw invalidField(field, "REDIRECT_URI_INVALID", rule);
  }
  if (kind === "http" && !isDevelopment) {
    const rule = "must be https: plain http is for loopback, and for apps with dev_mode";
    throw invalidField(field, "REDIRECT_URI_INVALID", rule);
  }
}

const isWeb = (scheme: string): boolean => /^https?$/i.test(scheme);

export type RedirectKind = "https" | "http" | "loopback" | "custom";

/** How safe a redirect is; the loopback is plain http that does not leave the device (RFC 8252 section 7.3). */
export function redirectKind(uri: string): RedirectKind {
  const { protocol, hostname } = new URL(uri);
  if (protocol === "https:") return "https";
  if (protocol !== "http:") return "custom";
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? "loopback" : "http";
}

/** The origin that browsers show when they call from a redirect; undefined for schemes that have none. */
export const originOf = (uri: string): string | undefined =>
  redirectKind(uri) === "custom" ? undefined : new URL(uri).origin;

/**
 * Refuses what no browser sends as the header `Origin`: scheme, host in lower case and port, unless it is the one of the
 * scheme. Apps on devices have schemes of their own.
 *
 * @throws INVALID_ARGUMENT ORIGIN_INVALID naming the field
 */
export function requireOrigin(origin: string, field: string): void {
  const shape = /^([a-z][a-z0-9+.-]*):\/\/(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
  const [, scheme = ""] = shape.exec(origin) ?? [];
  const isNormal = scheme !== "" && !forbiddenSchemes.has(scheme) && URL.canParse(origin);
  if (isNormal && (!isWeb(scheme) || new URL(origin).origin === origin)) return;
  throw invalidField(
    field,
    "ORIGIN_INVALID",
    "must be an origin as browsers send it, such as https://app.example.com or http://localhost:4200",
  );
}
