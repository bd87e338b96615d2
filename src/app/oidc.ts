import type { WebEndpoint } from "../api/web-endpoint.ts";
import type { DomainError } from "../errors.ts";
import { OAuthError, errorAnswer } from "../oidc/core/errors.ts";
import type { UsageCounter } from "../authz/ports.ts";
import type { OidcAnswer, OidcRequest } from "../oidc/core/http.ts";
import { introspectionPath, tokenPath, userinfoPath } from "../oidc/core/paths.ts";
import type { At, Ports, Tokens } from "../oidc/core/ports.ts";
import type { LoginErrors } from "../login/index.ts";
import { deferred } from "./deferred.ts";
import type { Provider } from "../oidc/core/provider.ts";

const blockedForSeconds = "3600";

type Handling = Pick<WebEndpoint, "handle" | "errorPage">;
type Endpoint = Provider["endpoints"][number];

const countedPaths: ReadonlySet<string> = new Set([tokenPath, introspectionPath, userinfoPath]);

/**
 * The endpoints of the provider on the one port: those that clients call directly, and the browsers' pages. Clients are
 * told of errors in the words of OAuth, people by pages.
 */
export function oidcEndpoints(
  provider: Provider,
  errors: LoginErrors,
  usage: UsageCounter,
): { direct: WebEndpoint[]; pages: WebEndpoint[] } {
  const mountedFor = (caller: "client" | "browser", mount: (endpoint: Endpoint) => Handling) =>
    provider.endpoints
      .filter((endpoint) => endpoint.caller === caller)
      .map((endpoint) => {
        const { path, methods, crossOrigin, isChange, budget } = endpoint;
        return { path, methods, crossOrigin, isChange, budget, ...mount(endpoint) };
      });

  const forClients = (endpoint: Endpoint): Handling => ({
    handle: (request, at) =>
      at.isBlocked ? errorAnswer(blocked()) : handleWithinQuota(endpoint, request, at),
    errorPage: async (error) => errorAnswer(fromDomain(error)),
  });

  /** Who proves themselves at an endpoint uses up a request of the instance; refusals use up nothing. */
  async function handleWithinQuota(
    endpoint: Endpoint,
    request: OidcRequest,
    at: At,
  ): Promise<OidcAnswer> {
    if (!countedPaths.has(endpoint.path)) return provider.handle(endpoint, request, at);
    await usage.require("requests", at.instanceId);
    const answer = await provider.handle(endpoint, request, at);
    if (answer.status === 200) await usage.count("requests", at.instanceId);
    return answer;
  }

  const forBrowsers = (endpoint: Endpoint): Handling => ({
    handle: (request, at) =>
      at.isBlocked ? errors.blockedPage(request, at) : provider.handle(endpoint, request, at),
    errorPage: errors.errorPage,
  });

  return {
    direct: mountedFor("client", forClients),
    pages: mountedFor("browser", forBrowsers),
  };
}

/** Issues access tokens as long as the instance may have more of them today. */
export const withinTokenQuota = (tokens: Tokens, usage: UsageCounter): Tokens => ({
  ...tokens,
  async issue(at, wanted) {
    if (wanted.accessToken === undefined) return tokens.issue(at, wanted);
    await usage.require("tokens", at.instanceId);
    const issued = await tokens.issue(at, wanted);
    if (issued.outcome === "issued") await usage.count("tokens", at.instanceId);
    return issued;
  },
});

/** A refusal of the service in the words of OAuth: whose fault it is, and whether to try again. */
function fromDomain({ kind, message, httpStatus, retryAfterSeconds }: DomainError): OAuthError {
  switch (kind) {
    case "unavailable":
    case "resourceExhausted":
      if (httpStatus === 413) return new OAuthError("invalid_request", message, { status: 413 });
      return new OAuthError("temporarily_unavailable", message, {
        status: kind === "unavailable" ? 503 : 429,
        headers: { "retry-after": String(retryAfterSeconds ?? 1) },
      });
    case "internal":
      // Whoever runs the service finds the cause in the log; a client learns that it was not its own fault.
      return new OAuthError("server_error", message, { status: 500 });
    case "aborted":
      return new OAuthError("temporarily_unavailable", message, { status: 503 });
    case "deadlineExceeded":
      return new OAuthError("invalid_request", message, { status: httpStatus ?? 408 });
    default:
      return new OAuthError("invalid_request", message);
  }
}

const blocked = () =>
  new OAuthError("temporarily_unavailable", "the instance is blocked: ask who runs the service", {
    status: 503,
    headers: { "retry-after": blockedForSeconds },
  });

/** What the provider asks of the login, which is loaded when a browser first comes. */
export function browserPorts(
  login: () => Promise<Pick<Ports, "browsers" | "interactions"> & { errors: LoginErrors }>,
): Pick<Ports, "browsers" | "interactions"> & { errors: LoginErrors } {
  return {
    errors: deferred(async () => (await login()).errors, { errorPage: true, blockedPage: true }),
    browsers: deferred(async () => (await login()).browsers, {
      sessionsOf: true,
      endSessions: true,
    }),
    interactions: deferred(async () => (await login()).interactions, {
      missing: true,
      keep: true,
      begin: true,
      load: true,
      take: true,
      errorPage: true,
      formPostPage: true,
      confirmLogout: true,
      loggedOutLocation: true,
    }),
  };
}
