import { Health } from "#gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { crossOrigin } from "../api/cors.ts";
import { dispatcher } from "../api/dispatch.ts";
import type { Endpoint } from "../api/endpoint.ts";
import { createEndpoints } from "../api/endpoints.ts";
import type { Ports } from "../api/interceptors/index.ts";
import { createRateLimiter } from "../api/interceptors/rate-limit.ts";
import { resolveOrigin, trustedIn } from "../api/proxy.ts";
import { type Listening, listen } from "../api/server.ts";
import { createSlowDown } from "../api/slow-down.ts";
import { createReadiness, probes } from "../api/system/readiness.ts";
import { restRoutes } from "../api/transcode/rest.ts";
import { parseStrictJson } from "../api/transcode/strict-json.ts";
import { protovalidate } from "../api/validation.ts";
import { type ServeWeb, webServer } from "../api/web-endpoint.ts";
import type { ShareBuckets } from "../authz/buckets.ts";
import type { UsageCounter } from "../authz/ports.ts";
import { showAddresses } from "../authz/shown-address.ts";
import { sourceOf } from "../authz/source.ts";
import { systemCallers } from "../authz/system-caller.ts";
import { version } from "../build.ts";
import { createEgressClient } from "../egress/client.ts";
import { type NameResolver, systemResolver } from "../egress/resolver.ts";
import { egressAllowInForce } from "../egress/url-guard.ts";
import { createConsoleSessions } from "../console-server/sessions.ts";
import { createExecutor } from "../executor/index.ts";
import { createCredentialUses } from "../resources/object/credential-uses.ts";
import { refuseNewerTokens } from "../resources/object/newer-token.ts";
import { type ServiceDeps, budgetsOf, depsOf, partOf } from "./deps.ts";
import { deviceApproval } from "../oidc/core/device-approval.ts";
import { createProvider } from "../oidc/core/provider.ts";
import { clientPorts, oidcAccessTokens } from "../oidc/store/index.ts";
import { createConsents } from "../resources/consent/index.ts";
import { createRefusals } from "../resources/event/index.ts";
import { metricsOf } from "./service-metrics.ts";
import { createUsage, instanceReader } from "../resources/instance/index.ts";
import { powerReader } from "../resources/membership/index.ts";
import { organizationReader } from "../resources/org/index.ts";
import { sessionTokens, stepUp } from "../resources/session/index.ts";
import { smtpService } from "../resources/smtp/index.ts";
import {
  homesReader,
  personalAccessTokens,
  registrationReader,
  users,
} from "../resources/user/index.ts";
import { createPageCalls } from "../api/page-calls.ts";
import { createCallService } from "./call-service.ts";
import { certificateOf } from "./certificate.ts";
import type { Config } from "./config.ts";
import { connectionLimit } from "./connection-limit.ts";
import { documents } from "./documents.ts";
import { jobHandlers, startJobs, sweepAll } from "./jobs.ts";
import { loginFunctions, tokenFunctions } from "./functions.ts";
import { listenForMetrics } from "./metrics.ts";
import type { Kernel } from "./kernel.ts";
import { idpReader } from "../resources/idp/index.ts";
import { logoPage, markPage } from "./logo.ts";
import { developmentMailOf, isForDevelopers, openNotices } from "./notices.ts";
import { browserPorts, oidcEndpoints, withinTokenQuota } from "./oidc.ts";
import { readPlaces } from "./places.ts";
import { alone, shareBuckets, type Siblings } from "./siblings.ts";
import { traceEgress } from "./traced.ts";
import { watchDisk, watchForNewer } from "./store-watch.ts";
import { trustedNetworks, watchForProxies } from "./unknown-proxies.ts";
import { wellKnown } from "./well-known.ts";

/** The service, listening. Disposing stops it within the configured time; the kernel stays open. */
export type App = AsyncDisposable & {
  port: number;
  /** The port of the metrics, where they have one of their own. */
  metricsPort: number | undefined;
  endpoints: Endpoint[];
};

const lastWordMs = 50;
const publicServices = [Health, ServerReflection, ServerReflectionAlpha];

/**
 * Builds each part once and listens.
 *
 * @throws FAILED_PRECONDITION ADDRESS_UNAVAILABLE, METRICS_PORT_UNAVAILABLE; nothing listens then
 */
export async function startApp(
  kernel: Kernel,
  parts: { resolver?: NameResolver; siblings?: Siblings } = {},
): Promise<App> {
  const { config, logger } = kernel;
  const { siblings = alone } = parts;
  const isShared = siblings.number !== undefined;
  const services = openServices(kernel, siblings, parts.resolver);
  const { deps, executor, ports, metrics, endpoints, stopping } = services;
  const readiness = createReadiness();
  const serveWeb = webServer(ports);
  const { oidc, web } = openPages(kernel, services, serveWeb);
  const proxies = trustedNetworks(config);
  const { tell } = await watchForProxies(kernel);
  const isProxy = trustedIn(proxies);
  await using unlessListening = new AsyncDisposableStack();
  const ownMetrics = unlessListening.use(await listenForMetrics(metrics, config, isShared));
  const listening: Listening = await listen({
    host: config.host,
    port: config.port,
    isShared,
    tls: certificateOf(config),
    maxConnections: connectionLimit(partOf(siblings, config.maxConnections)),
    resolveOrigin: resolveOrigin(proxies, config.proxyHeaders, tell),
    mayConnect: (address, open) =>
      isProxy(address) || deps.budgets.mayConnect(sourceOf(address), open),
    logger,
    ...dispatcher({
      endpoints,
      routes: restRoutes(endpoints),
      probes: probes(readiness),
      crossOrigin: crossOrigin(ports.instances, deps.apps),
      webEndpoints: oidc.direct,
      serveWeb,
      streamServices: publicServices,
      streams: streamsOf(services, readiness),
      web,
    }),
  });
  // Both ports are open: from here on, the metrics are closed by the disposal of the app.
  unlessListening.move();
  const executing = executor.start();
  const jobs = startJobs(kernel, services.handlers, metrics);
  const sweeper = sweepAll(kernel, deps);
  const background = startBackground(kernel, deps);
  const reserve = watchDisk(kernel, readiness);
  watchForNewer(kernel, readiness);
  readiness.set(true);
  return {
    port: listening.port,
    metricsPort: ownMetrics.port,
    endpoints,
    async [Symbol.asyncDispose]() {
      readiness.set(false);
      if (!kernel.writes.isWritable()) reserve.giveUp();
      // Who watches the health gets to hear of it before their stream ends; all others end with it.
      setTimeout(() => stopping.abort(), lastWordMs);
      await Promise.all([
        listening.stop(config.shutdownTimeoutMs),
        ...[jobs, sweeper, ownMetrics, ...background].map((each) => each[Symbol.asyncDispose]()),
      ]);
      // Calls that ended until now leave their records.
      const { uses, refusals, usage } = services;
      await Promise.all(
        [executing, uses, refusals, usage].map((each) => each[Symbol.asyncDispose]()),
      );
    },
  };
}

type Services = ReturnType<typeof openServices>;

/** The services of all slices, what they stand on, and their methods as endpoints. */
function openServices(kernel: Kernel, siblings: Siblings, resolver: NameResolver | undefined) {
  const { config, db, logger, now } = kernel;
  const { allow, outside } = egressOf(kernel, resolver);
  let served: string[] = [];
  const share = shareBuckets(siblings);
  const budgets = budgetsOf(config, siblings, share);
  const { refusals, uses, usage } = recordersOf(kernel);
  const deps = depsOf(kernel, {
    allow,
    outside,
    budgets,
    validator: protovalidate,
    uses,
    refusals,
    served: () => served,
  });
  const { features, memberships } = deps;
  const executor = createExecutor(deps, {
    db,
    outside,
    logger,
    memberships,
    methodOf: (path) => methods.get(path),
    parseJson: (bytes) => parseStrictJson(bytes),
  });
  const externalUrl = new URL(config.externalUrl);
  const developmentMail = isForDevelopers(externalUrl)
    ? developmentMailOf(now, siblings)
    : undefined;
  const notices = openNotices(deps, { outside, externalUrl, logger, developmentMail });
  const bindings = [
    ...kernel.modules.flatMap(({ services }) => services?.(deps) ?? []),
    ...executor.services,
    smtpService(deps, notices.test),
  ];
  const handlers = jobHandlers(kernel, deps, { ...executor.jobs, ...notices.jobs });
  const services = bindings.map(({ service }) => service);
  const methods = new Map(
    services.flatMap((s) => s.methods.map((each) => [`/${s.typeName}/${each.name}`, each])),
  );
  const { followers } = deps;
  const metrics = metricsOf(kernel, services, { budgets, refusals, siblings, followers });
  executor.measure(metrics);
  const consents = createConsents(deps);
  const ofStore = { ...clientPorts({ ...deps, features }), consents };
  const consoleSessions = createConsoleSessions(deps);
  const ports = portsOf(kernel, deps, {
    organizations: organizationReader(db),
    validator: protovalidate,
    metrics,
    externalUrl,
    share,
    usage,
    accessTokens: oidcAccessTokens({ ...ofStore, db }),
    executions: executor.calls,
    browserTokens: consoleSessions.tokenOf,
  });
  const stopping = new AbortController();
  const endpoints = createEndpoints(bindings, ports, callDefaultsOf(config), stopping.signal);
  served = pathsOfUnary(endpoints);
  return {
    deps,
    executor,
    developmentMail,
    bindings,
    handlers,
    services,
    metrics,
    ofStore,
    ports,
    stopping,
    endpoints,
    refusals,
    uses,
    usage,
    consoleSessions,
  };
}

/** What few calls need is loaded by the first of them: it would be half of the start and of the memory. */
const streamsOf = (
  { services, stopping }: Services,
  readiness: ReturnType<typeof createReadiness>,
) =>
  once(async () => {
    const { systemRouter } = await import("../api/system/router.ts");
    return systemRouter({ readiness, services, publicServices, shutdownSignal: stopping.signal });
  });

/** The endpoints of the provider, and the pages of the login and the account, which the first visit loads. */
function openPages({ config, db, logger }: Kernel, services: Services, serveWeb: ServeWeb) {
  const { deps, executor, developmentMail, bindings, metrics, ofStore, ports, endpoints, usage } =
    services;
  const call = createCallService(bindings, ports.validator, callDefaultsOf(config));
  const ofFunctions = { call, runFunction: executor.runFunction, users: ofStore.users };
  const tokens = withinTokenQuota(ofStore.tokens, usage);
  const ofProvider = { ...ofStore, tokens, functions: tokenFunctions(ofFunctions) };
  const placeOf = readPlaces(config.places);
  const login = once(async () => {
    const { openLogin } = await import("./login.ts");
    const devices = deviceApproval(ofProvider);
    const functions = loginFunctions(ofFunctions);
    const callForPerson = createPageCalls(endpoints);
    const ofPages = { call, callForPerson, developmentMail, placeOf, logger };
    return openLogin(deps, { ...ofPages, consents: ofStore.consents, devices, functions });
  });
  const { errors, ...ofBrowsers } = browserPorts(login);
  const oidc = oidcEndpoints(createProvider({ ...ofProvider, ...ofBrowsers }), errors, usage);
  const web = once(async () => {
    const { webHandler } = await import("../api/express.ts");
    const { pages, errors: ofLogin } = await login();
    const { openConsole } = await import("./console.ts");
    const console = openConsole(deps, {
      sessions: services.consoleSessions,
      provider: oidc.direct,
      methods: endpoints,
      errors: ofLogin,
    });
    const images = [logoPage(db), markPage(idpReader(db, deps.features))];
    const own = [...documents(config, metrics, endpoints), ...images, ...wellKnown(deps)];
    const ofPages = [...oidc.pages, ...pages, ...console].map((each) => ({
      ...each,
      isPage: true,
    }));
    return webHandler([...own, ...ofPages], serveWeb);
  });
  return { oidc, web };
}

/** The one way out, and which addresses inside it may reach. */
function egressOf({ config, tracing }: Kernel, resolver = systemResolver()) {
  const allow = egressAllowInForce(config.egressAllow, config.externalUrl);
  const outside = createEgressClient({ allow, resolver, userAgent: `idsvc/${version}` });
  return { allow, outside: tracing === undefined ? outside : traceEgress(outside) };
}

/** What is counted in memory and written a little later: refusals, when credentials were last used, and what quotas limit. */
function recordersOf({ db, events, logger, now, newId }: Kernel) {
  return {
    refusals: createRefusals(
      { events, now, newId, homesOf: homesReader(db), people: users },
      (err) => logger.error({ err }, "what was refused cannot be recorded"),
    ),
    uses: createCredentialUses({ db, now }, (err) =>
      logger.error({ err }, "the last use of credentials cannot be written"),
    ),
    usage: createUsage({ db, now }, (err) =>
      logger.error({ err }, "what an instance used of its quotas cannot be written"),
    ),
  };
}

const callDefaultsOf = ({ callTimeoutMs, maxMessageBytes }: Config) => ({
  timeoutMs: callTimeoutMs,
  maxBodyBytes: maxMessageBytes,
});

/** Executions run around unary methods only. */
const pathsOfUnary = (endpoints: readonly Endpoint[]): string[] =>
  endpoints
    .filter(({ kind }) => kind === "unary")
    .map(({ rule }) => rule.path)
    .sort();

const startBackground = ({ modules, logger }: Kernel, deps: ServiceDeps): AsyncDisposable[] =>
  modules.flatMap(
    ({ background }) =>
      background?.(deps, (err) => logger.error({ err }, "work in the background failed")) ?? [],
  );

/** What the interceptors of calls ask. */
function portsOf(
  { config, db, secrets, logger, now, masterKeys, tracing }: Kernel,
  deps: ServiceDeps,
  parts: Pick<
    Ports,
    "organizations" | "validator" | "metrics" | "externalUrl" | "executions" | "browserTokens"
  > & {
    accessTokens: Ports["tokens"][number];
    share: ShareBuckets;
    usage: UsageCounter;
  },
): Ports {
  const { features, memberships, noteUse, noteRefusal, budgets } = deps;
  const { organizations, validator, metrics, externalUrl, executions, browserTokens } = parts;
  const { accessTokens, share, usage } = parts;
  return {
    instances: instanceReader(db),
    organizations,
    memberships,
    powers: powerReader(deps),
    registrations: registrationReader(deps),
    stepUp: stepUp({ db, organizations, now }),
    beforeChange: db.beforeChange,
    features,
    tokens: [
      sessionTokens({ db, secrets, organizations, memberships, now }),
      accessTokens,
      personalAccessTokens({ db, secrets, organizations, now, noteUse }),
      systemCallers(config.systemCallers, now),
      refuseNewerTokens,
    ],
    browserTokens,
    executions,
    validator,
    logger,
    metrics,
    tracing,
    noteRefusal,
    budgets,
    slowDown: createSlowDown(),
    showAddress: showAddresses(config.logAddresses, masterKeys.current.key, now),
    limitRate: createRateLimiter(
      {
        caller: config.rateLimit,
        callerChanges: config.rateLimitChanges,
        instance: config.rateLimitInstance,
        instanceChanges: config.rateLimitInstanceChanges,
      },
      share,
    ),
    usage,
    externalUrl,
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
