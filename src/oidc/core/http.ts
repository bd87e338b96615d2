/** What the provider reads of a request: any WHATWG `Request` is one. */
export type OidcRequest = {
  method: string;
  /** Absolute, or path and query alone. */
  url: string;
  headers: { get(name: string): string | null; count?(name: string): number };
  /** The body as text. @throws OAuthError when it is too large */
  text(): Promise<string>;
};

/** What the provider answers, before it becomes a WHATWG `Response` or goes out by a quicker way. */
export type OidcAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** One `Set-Cookie` header each. */
  cookies?: string[];
  /** What went wrong, where the answer tells only that something did: for the log. */
  cause?: unknown;
  /** What the answer may not tell: for the log. */
  note?: Note;
  /** It refuses somebody who has proven nothing: neither a secret nor a key, code or token that holds. */
  isUnproven?: boolean;
};

/** Which client was answered, with which error of OAuth, and why; never a credential. */
export type Note = {
  clientId?: string | undefined;
  error?: string | undefined;
  reason?: string | undefined;
};

/** Nothing that holds a token or a claim is kept by anybody (RFC 6749 section 5.1). */
export const noStore = { "cache-control": "no-store", pragma: "no-cache" };

export const json = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): OidcAnswer => ({
  status,
  headers: { "content-type": "application/json", ...noStore, ...headers },
  body: JSON.stringify(body),
});

/** Leads the browser on; 303 makes a GET of whatever it was. */
export const redirect = (location: string, cookies: string[] = []): OidcAnswer => ({
  status: 303,
  headers: { location, ...noStore, "referrer-policy": "no-referrer" },
  body: "",
  cookies,
});

export function toResponse({ status, headers, body, cookies = [] }: OidcAnswer): Response {
  const all = new Headers(headers);
  for (const cookie of cookies) all.append("set-cookie", cookie);
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : body, { status, headers: all });
}

/** Path and query of a request, whichever form its URL has. */
export function targetOf({ url }: OidcRequest): { path: string; query: string } {
  const from = /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0].length ?? 0;
  const target = url.slice(from);
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target || "/", query: "" }
    : { path: target.slice(0, mark) || "/", query: target.slice(mark + 1) };
}
