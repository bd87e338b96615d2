import type { Endpoint } from "../api/endpoint.ts";
import type { WebEndpoint } from "../api/web-endpoint.ts";
import { createConsole } from "../console-server/index.ts";
import type { ConsoleSessions } from "../console-server/sessions.ts";
import type { LoginErrors } from "../login/index.ts";
import type { ServiceDeps } from "./deps.ts";

/** By method, the permission that shows that somebody has a use for it; behind it that for what is of the instance itself, if another. */
export const needsOf = (methods: readonly Pick<Endpoint, "rule">[]): Record<string, string> =>
  Object.fromEntries(
    methods.map(({ rule }) => [
      `${rule.method.parent.name}.${rule.method.name}`,
      [...new Set([rule.policy.act, rule.policy.onInstance])].join(" "),
    ]),
  );

/** The console, a client of the provider whose endpoints these are, over the methods that are served. */
export function openConsole(
  deps: ServiceDeps,
  parts: {
    sessions: ConsoleSessions;
    provider: readonly WebEndpoint[];
    methods: readonly Endpoint[];
    errors: LoginErrors;
  },
): WebEndpoint[] {
  const { sessions, provider, methods, errors } = parts;
  const byPath = new Map(provider.map((endpoint) => [endpoint.path, endpoint]));
  const endpoints = createConsole<Parameters<WebEndpoint["handle"]>[1]>(deps, {
    sessions,
    async ask(path, request, at) {
      const endpoint = byPath.get(path);
      if (endpoint === undefined) throw new Error(`the provider has no ${path}`);
      return endpoint.handle(request, at);
    },
    needs: () => needsOf(methods),
  });
  // Only browsers are led to pages; what the console calls is answered as every call is.
  return endpoints.map((endpoint) =>
    endpoint.methods.includes("GET") ? { ...endpoint, errorPage: errors.errorPage } : endpoint,
  );
}
