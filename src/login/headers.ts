export type PageSecurity = {
  nonce: string;
  isTls: boolean;
  /** Addresses that a form of this page may lead to, itself or by redirects: the proven redirect URI, a provider. */
  formTargets?: readonly string[];
  /** Origins that may frame pages. */
  frameOrigins?: readonly string[];
  /** Pages without forms tell nobody where the reader comes from. */
  hasForms: boolean;
};

const yearSeconds = 31_536_000;
const scripts = ["javascript:", "data:", "blob:"];

/**
 * The security headers of a page (specification 11.14). What is not an address or an origin gives no source.
 */
export function pageHeaders(page: PageSecurity): Record<string, string> {
  const targets = sourcesOf(page.formTargets);
  const frames = sourcesOf(page.frameOrigins);
  const policy = [
    "default-src 'none'",
    `style-src 'self' 'nonce-${page.nonce}'`,
    `script-src 'self' 'nonce-${page.nonce}'`,
    "img-src 'self' data:",
    `form-action ${["'self'", ...targets].join(" ")}`,
    `frame-ancestors ${frames.length > 0 ? frames.join(" ") : "'none'"}`,
    "base-uri 'none'",
    // A form that leads to an address without TLS would be led astray.
    ...(page.isTls && !targets.some((target) => target.startsWith("http:"))
      ? ["upgrade-insecure-requests"]
      : []),
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "referrer-policy": page.hasForms ? "same-origin" : "no-referrer",
    "x-content-type-options": "nosniff",
    ...(frames.length === 0 ? { "x-frame-options": "DENY" } : {}),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy":
      "camera=(), geolocation=(), microphone=(), payment=(), usb=(), publickey-credentials-create=(self), publickey-credentials-get=(self)",
    ...(page.isTls ? { "strict-transport-security": `max-age=${yearSeconds}` } : {}),
  };
}

// Built from what was parsed, so that nothing of the text can begin another directive.
function sourcesOf(addresses: readonly string[] = []): string[] {
  const sources = addresses.map((address) => {
    const url = URL.parse(address);
    if (url === null || scripts.includes(url.protocol)) return undefined;
    return url.origin === "null" ? url.protocol : url.origin;
  });
  return [...new Set(sources.filter((source) => source !== undefined))];
}
