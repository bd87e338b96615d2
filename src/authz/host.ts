/** The host without its port, in lower case; an IPv6 literal keeps its brackets. */
export function hostName(host: string): string {
  const end = host.startsWith("[") ? host.indexOf("]") + 1 : host.indexOf(":");
  return (end > 0 ? host.slice(0, end) : host).toLowerCase();
}

/** Whether a host without port is the machine itself, for whoever asks. */
export const isLoopback = (host: string): boolean =>
  host === "[::1]" || /^(?:.+\.)?localhost$|^127\.\d+\.\d+\.\d+$/.test(host);

/** The address of a page: http or https, without a user or a password; undefined for all else. */
export function pageAddress(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPage = url !== undefined && ["http:", "https:"].includes(url.protocol);
  return isPage && url.username === "" && url.password === "" ? url : undefined;
}

/** Scheme and port of the external URL with the domain that matched: the issuer of tokens (B1). */
export const issuerOf = (externalUrl: URL, domain: string): string =>
  `${externalUrl.protocol}//${domain}${externalUrl.port === "" ? "" : `:${externalUrl.port}`}`;
