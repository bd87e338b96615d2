import { type Hint, hintIgnored, readIdTokenHint } from "./authorize/id-token-hint.ts";
import type { Endpoint } from "./endpoint.ts";
import { invalidRequest, OAuthError } from "./errors.ts";
import { collect, type Parameters, readFormBody } from "./form.ts";
import { noStore, type OidcAnswer, type OidcRequest, redirect, targetOf } from "./http.ts";
import type { At, BrowserSession, LogoutRequest, Ports } from "./ports.ts";

export const endSessionPath = "/oidc/v1/end_session";

const longestQuery = 32_768;

/**
 * What a browser forgets of this origin when somebody has logged out and nobody else is logged in there. Cookies are not among it:
 * they would go for the whole site, also those of other services, and with them what tells a known browser (decision 0327).
 */
export const forgetSite = { "clear-site-data": '"cache", "storage"' };

/**
 * Logout by the client (OpenID Connect RP-Initiated Logout 1.0). A genuine hint for a session of this browser ends that
 * session; everybody else is asked first, so that no page of another site logs anybody out. Whether the browser goes back
 * to the client depends on its URI alone, and the logout on neither; a URI that is not registered is told on a page of ours.
 */
export function endSessionEndpoint(ports: Ports): Endpoint {
  const { clients, keys, browsers, interactions } = ports;

  /** Where the browser goes afterwards: a URI that is registered for the client which the request proves. */
  async function destination(
    at: At,
    parameters: Parameters,
    hint: Hint | undefined,
  ): Promise<LogoutRequest & { isRefused: boolean }> {
    const state = parameters.get("state");
    const uri = parameters.get("post_logout_redirect_uri");
    const named = parameters.get("client_id");
    const clientId = hint?.clientId ?? named;
    const agree = named === undefined || named === clientId;
    const client = clientId === undefined || !agree ? undefined : await clients.byId(at, clientId);
    const isRegistered = uri !== undefined && client?.postLogoutRedirectUris.includes(uri);
    const redirectUri = isRegistered ? uri : undefined;
    return { redirectUri, state, isRefused: uri !== undefined && !isRegistered };
  }

  return {
    metadata: "end_session_endpoint",
    path: endSessionPath,
    budget: "flows",
    methods: ["GET", "POST"],
    caller: "browser",
    crossOrigin: "none",
    isChange: true,
    async handle(http, at) {
      const { query } = targetOf(http);
      if (http.method === "POST") return asGet(await readFormBody(http), query);
      const { parameters } = collect(query);
      const hint = await readIdTokenHint(keys, at, parameters.get("id_token_hint"));
      const isIgnored = hint === undefined && parameters.has("id_token_hint");
      const note = isIgnored ? { note: { reason: hintIgnored } } : {};
      const { isRefused, ...request } = await destination(at, parameters, hint);
      const cookies = http.headers.get("cookie") ?? "";
      const sessions = await browsers.sessionsOf(at, cookies);
      const meant = hint === undefined ? [] : sessionsOf(sessions, hint);
      if (meant.length === 0 && sessions.length > 0) {
        return { ...redirect(await interactions.confirmLogout(at, request, cookies)), ...note };
      }
      await browsers.endSessions(
        at,
        meant.map(({ id }) => id),
      );
      const isLast = meant.length > 0 && meant.length === sessions.length;
      const forgetting = isLast ? forgetSite : {};
      // Whoever runs the app would take "signed out" for a logout that went as they wanted.
      if (isRefused) return withHeaders(await notRegistered(at, http, hint), forgetting);
      const location = afterLogout(request) ?? (await interactions.loggedOutLocation(at));
      return { ...withHeaders(redirect(location), forgetting), ...note };
    },
  };

  async function notRegistered(at: At, http: OidcRequest, hint: Hint | undefined) {
    const { code, message, status, about } = uriNotRegistered();
    const problem = { code, description: message, status, about };
    const page = await interactions.errorPage(at, problem, http.headers);
    const note = { clientId: hint?.clientId, error: code, reason: message };
    return { status, ...page, headers: { ...noStore, ...page.headers }, note };
  }
}

const withHeaders = (answer: OidcAnswer, more: Readonly<Record<string, string>>): OidcAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...more },
});

const uriNotRegistered = () =>
  new OAuthError(
    "invalid_request",
    "the post_logout_redirect_uri is not registered for the application that id_token_hint or client_id names: the user is logged out, and stays here",
    { about: "redirect_uri" },
  );

/** Cookies do not come with a post from another site; with our own redirect they do. */
function asGet(body: string, query: string): OidcAnswer {
  const all = [query, body].filter((part) => part !== "").join("&");
  if (all.length > longestQuery) throw invalidRequest("the logout request is too long");
  const encoded = new URLSearchParams(all).toString();
  return redirect(encoded === "" ? endSessionPath : `${endSessionPath}?${encoded}`);
}

/** The sessions of the browser that a hint means: the named one, else those of its user. */
function sessionsOf(sessions: readonly BrowserSession[], hint: Hint): readonly BrowserSession[] {
  const named = sessions.filter(({ id }) => id === hint.sessionId);
  return named.length > 0 ? named : sessions.filter(({ user }) => user.id === hint.userId);
}

/** The address of the client with the state it sent, unless it must not be gone to. */
export function afterLogout({ redirectUri, state }: LogoutRequest): string | undefined {
  if (redirectUri === undefined || state === undefined) return redirectUri;
  const text = new URLSearchParams({ state }).toString();
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${text}`;
}
