import { routeNotFound } from "../errors.ts";
import type { Browsers, Interactions } from "../oidc/core/ports.ts";
import { createTrustedBrowsers } from "../resources/session/index.ts";
import { createKnownBrowsers, userChecks } from "../resources/user/index.ts";
import { createAccountLink } from "./account-link.ts";
import { createAdvance } from "./advance.ts";
import { createAgents } from "./agents.ts";
import { assetAt } from "./assets.ts";
import { loginErrors, showError } from "./errors.ts";
import { createFlowStore } from "./flow-store.ts";
import { loginInteractions } from "./interactions.ts";
import { createMessagePace } from "./message-pace.ts";
import { paths } from "./paths.ts";
import { createLoginUsers } from "./users.ts";
import type { LoginPorts } from "./ports.ts";
import type { Route, RouteParts } from "./route.ts";
import { accountsRoute } from "./routes/accounts.ts";
import { beginRoute } from "./routes/begin.ts";
import { changePasswordRoute } from "./routes/change-password.ts";
import { deviceRoutes } from "./routes/device.ts";
import { emailLoginRoutes } from "./routes/email-login.ts";
import { endRoutes } from "./routes/ends.ts";
import { fromMailRoutes } from "./routes/from-mail.ts";
import { loginNameRoute } from "./routes/login-name.ts";
import { callbackEndpoints } from "./routes/callback.ts";
import { passkeyRoute } from "./routes/passkey.ts";
import { notMeRoute } from "./routes/not-me.ts";
import { providerRoutes } from "./routes/provider.ts";
import { providerAccountRoutes } from "./routes/provider-account.ts";
import { passwordResetRoutes } from "./routes/password-reset.ts";
import { passwordRoute } from "./routes/password.ts";
import { preparePasskeyRoute } from "./routes/prepare-passkey.ts";
import { recoverRoute } from "./routes/recover.ts";
import { recoveryCodesRoute } from "./routes/recovery-codes.ts";
import { registerRoutes } from "./routes/register.ts";
import { registerAccountRoute } from "./routes/register-account.ts";
import { secondFactorRoutes } from "./routes/second-factor.ts";
import { setupRoutes } from "./routes/setup.ts";
import { loginSessions } from "./sessions.ts";
import { openPageContext, type PageContext, PageRefused } from "./page-context.ts";
import type {
  LoginAnswer,
  LoginEndpoint,
  LoginErrors,
  LoginRequestContext,
  LoginRequest,
} from "./web.ts";

export { pathOfNotice, recoverPath } from "./path-of-notice.ts";
export type { LoginFunctions, LoginPorts } from "./ports.ts";
export type { LoginErrors } from "./web.ts";

/**
 * The pages, and what the provider asks of the login.
 *
 * @param more pages that stand on the same parts
 */
export function createLogin(
  ports: LoginPorts,
  more: readonly ((parts: RouteParts) => Route[])[] = [],
): {
  pages: LoginEndpoint[];
  browsers: Browsers;
  interactions: Interactions;
  errors: LoginErrors;
} {
  const agents = createAgents(ports);
  const flows = createFlowStore(ports);
  const users = createLoginUsers(ports);
  const sessions = loginSessions(ports);
  const base = { ...ports, agents, flows, users, sessions };
  const { browsers, interactions } = loginInteractions(base);
  const checks = userChecks(ports.deps);
  const knownBrowsers = createKnownBrowsers(ports.deps);
  const linkAccount = createAccountLink(base);
  const trustedBrowsers = createTrustedBrowsers(ports);
  const advance = createAdvance({ ...base, linkAccount, knownBrowsers, trustedBrowsers });
  const mayTell = createMessagePace(ports);
  const parts: RouteParts = {
    ...base,
    browsers,
    checks,
    advance,
    mayTell,
    knownBrowsers,
    trustedBrowsers,
  };
  const routes: Route[] = [
    beginRoute(parts),
    loginNameRoute(parts),
    passwordRoute(parts),
    preparePasskeyRoute(parts),
    ...emailLoginRoutes(parts),
    accountsRoute(parts),
    ...providerRoutes(parts),
    ...providerAccountRoutes(parts),
    passkeyRoute(parts),
    ...secondFactorRoutes(parts),
    ...setupRoutes(parts),
    recoveryCodesRoute(parts),
    ...registerRoutes(parts),
    registerAccountRoute(parts),
    ...passwordResetRoutes(parts),
    ...fromMailRoutes(parts),
    recoverRoute(parts),
    notMeRoute(parts),
    changePasswordRoute(parts),
    ...deviceRoutes(parts),
    ...endRoutes(parts),
    ...more.flatMap((make) => make(parts)),
  ];
  const errors = loginErrors(ports);
  const pages = [
    ...routes.map((route) => endpointOf(parts, errors, route)),
    ...callbackEndpoints(parts).map((endpoint) => guarded(parts, errors, endpoint)),
    assets,
    bare,
    ...[`${paths.begin}/`, `${paths.begin}/signedin`].map((path) => front(path, paths.begin)),
    front(`${paths.account}/`, paths.account),
    nowhere(parts),
  ];
  return { pages, browsers, interactions, errors };
}

function endpointOf(
  parts: RouteParts,
  { errorPage, blockedPage }: LoginErrors,
  { path, get, post, isLasting }: Route,
): LoginEndpoint {
  return {
    path,
    methods: [...(get ? (["GET"] as const) : []), ...(post ? (["POST"] as const) : [])],
    crossOrigin: "none",
    errorPage,
    async handle(request, at) {
      let context: PageContext | undefined;
      try {
        const act = request.method === "POST" ? post : get;
        if (at.isBlocked) return await blockedPage(request, at);
        if (act === undefined) throw new PageRefused("METHOD_NOT_ALLOWED", 405);
        context = await openPageContext(parts, request, at);
        try {
          return await act(context);
        } finally {
          await context.settle();
        }
      } catch (error) {
        const isOver = error instanceof PageRefused && error.code === "FLOW_NOT_FOUND";
        if (isLasting && isOver) return redirectTo(path);
        if (error instanceof PageRefused && context?.hasFlow === true) {
          if (error.isElsewhere) return context.go(paths.begin);
          error.flowId ??= context.flow.address;
        }
        return refusedPage(parts, request, at, error);
      }
    },
  };
}

function guarded(
  parts: RouteParts,
  { errorPage, blockedPage }: LoginErrors,
  endpoint: LoginEndpoint,
): LoginEndpoint {
  return {
    ...endpoint,
    errorPage,
    async handle(request, at) {
      try {
        return await (at.isBlocked ? blockedPage(request, at) : endpoint.handle(request, at));
      } catch (error) {
        return refusedPage(parts, request, at, error);
      }
    },
  };
}

/** The page of a refusal of the login; what is none goes on. */
async function refusedPage(
  parts: RouteParts,
  request: LoginRequest,
  at: LoginRequestContext,
  error: unknown,
): Promise<LoginAnswer> {
  if (!(error instanceof PageRefused)) throw error;
  const { code, status, detail, cause, flowId, back } = error;
  const view = {
    code,
    status,
    ...(detail === undefined ? {} : { detail }),
    ...(flowId === undefined ? {} : { flowId }),
    ...(back === undefined ? {} : { back }),
    isOfLogin: true,
  };
  return { ...(await showError(parts, request, at, view)), cause };
}

/** Who opens the bare address in a browser means the login, which leads on to the account, and so does who types its folder. */
const front = (path: string, to: string): LoginEndpoint => ({
  path,
  methods: ["GET"],
  crossOrigin: "none",
  handle: async () => redirectTo(to),
});

/** The bare address: programs that ask for JSON are told that there is none. */
const bare: LoginEndpoint = {
  ...front("/", paths.begin),
  async handle({ headers }) {
    const accepted = headers.get("accept") ?? "";
    if (accepted.includes("json") && !accepted.includes("html")) throw routeNotFound();
    return redirectTo(paths.begin);
  },
};

const redirectTo = (location: string): LoginAnswer => ({
  status: 303,
  headers: { location },
  body: "",
});

const assets: LoginEndpoint = {
  path: `${paths.assets}/:name`,
  methods: ["GET"],
  crossOrigin: "none",
  async handle({ url }) {
    const asset = assetAt(new URL(url, "http://localhost").pathname);
    if (asset === undefined) {
      return {
        status: 404,
        headers: { "content-type": "text/plain" },
        body: "there is no such file",
      };
    }
    const { contentType, body, cacheControl } = asset;
    const headers = {
      "content-type": contentType,
      "cache-control": cacheControl,
      "x-content-type-options": "nosniff",
    };
    return { status: 200, headers, body };
  },
};

/** Where no page is; the last of the endpoints. */
const nowhere = (parts: RouteParts): LoginEndpoint => ({
  path: `${paths.begin}/*path`,
  methods: ["GET"],
  crossOrigin: "none",
  handle: (request, at) => showError(parts, request, at, { code: "NOT_FOUND", status: 404 }),
});
