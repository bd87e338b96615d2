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
import { type WebEndpoint, webServer } from "../api/web-endpoint.ts";
import type { ShareBuckets } from "../authz/buckets.ts";
import { createBudgets } from "../authz/budgets.ts";
import { showAddresses } from "../authz/shown-address.ts";
import { sourceOf } from "../authz/source.ts";
import { systemCallers } from "../authz/system-caller.ts";
import { createEgressClient } from "../egress/client.ts";
import { type NameResolver, systemResolver } from "../egress/resolver.ts";
import { checkTargetUrl, egressAllowInForce } from "../egress/url-guard.ts";
import { createExecutor } from "../executor/index.ts";
import { createCredentialUses } from "../resources/object/credential-uses.ts";
import { refuseNewerTokens } from "../resources/object/newer-token.ts";
import { createFederation } from "../federation/index.ts";
import type { Deps } from "../projection/module.ts";
import { deviceApproval } from "../oidc/core/device-approval.ts";
import { createProvider } from "../oidc/core/provider.ts";
import { clientPorts, oidcAccessTokens, tokensInName } from "../oidc/store/index.ts";
import { appReader } from "../resources/app/index.ts";
import { createRefusals } from "../resources/event/index.ts";
import { metricsOf } from "./service-metrics.ts";
import { instanceReader } from "../resources/instance/index.ts";
import { membershipReader, powerReader } from "../resources/membership/index.ts";
import { organizationReader, organizationTenancy } from "../resources/org/index.ts";
import { sessionMakers, sessionTokens, stepUp } from "../resources/session/index.ts";
import { smtpService } from "../resources/smtp/index.ts";
import {
  homesReader,
  personalAccessTokens,
  registrationReader,
  users,
} from "../resources/user/index.ts";
import { featureReader } from "../settings/feature/index.ts";
import { current } from "../storage/read-cache.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createPageCalls } from "../api/page-calls.ts";
import { createCallService } from "./call-service.ts";
import { certificateOf } from "./certificate.ts";
import { type Config, processCount } from "./config.ts";
import { connectionLimit } from "./connection-limit.ts";
import { messageReader } from "./read-message.ts";
import { jobHandlers, startJobs, sweepAll } from "./jobs.ts";
import { createBreachScreen } from "./breached-passwords.ts";
import { createDomainProof } from "./domain-proof.ts";
import { loginFunctions, tokenFunctions } from "./functions.ts";
import { listenForMetrics, metricsEndpoint } from "./metrics.ts";
import type { Kernel } from "./kernel.ts";
import { logoPage } from "./logo.ts";
import { developmentMailOf, isForDevelopers, openNotices } from "./notices.ts";
import { browserPorts, oidcEndpoints } from "./oidc.ts";
import { alone, shareBuckets, type Siblings } from "./siblings.ts";
import { watchDisk, watchForNewer } from "./store-watch.ts";
import { trustedNetworks, watchForProxies } from "./unknown-proxies.ts";
import { version } from "./version.ts";
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

/** Builds each part once and listens. */
export async function startApp(
  kernel: Kernel,
  parts: { resolver?: NameResolver; siblings?: Siblings } = {},
): Promise<App> {
  const { siblings = alone } = parts;
  const { config, db, logger, now } = kernel;
  const { allow, outside } = egressOf(kernel, parts.resolver);
  const organizations = organizationReader(db);
  let served: string[] = [];
  const share = shareBuckets(siblings);
  const budgets = budgetsOf(config, share);
  const { refusals, uses } = recordersOf(kernel);
  const validator = protovalidate();
  const deps = depsOf(kernel, {
    ...{ allow, outside, budgets, validator, uses, refusals },
    served: () => served,
  });
  const { features, memberships } = deps;
  const executor = createExecutor(deps, {
    ...{ db, outside, logger, memberships },
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
  const metrics = metricsOf(kernel, services, { budgets, refusals, siblings });
  executor.measure(metrics);
  const ofStore = clientPorts({ ...deps, features });
  const ports = portsOf(kernel, deps, {
    ...{ organizations, validator, metrics, externalUrl, share },
    accessTokens: oidcAccessTokens({ ...ofStore, db }),
    executions: executor.calls,
  });
  const stopping = new AbortController();
  const callDefaults = callDefaultsOf(config);
  const endpoints = createEndpoints(bindings, ports, callDefaults, stopping.signal);
  served = pathsOfUnary(endpoints);

  const readiness = createReadiness();
  // What few calls need is loaded by the first of them: it would be half of the start and of the memory.
  const streams = once(async () => {
    const { systemRouter } = await import("../api/system/router.ts");
    return systemRouter({ readiness, services, publicServices, shutdownSignal: stopping.signal });
  });
  const serveWeb = webServer(ports);
  const call = createCallService(bindings, ports.validator, callDefaults);
  const ofFunctions = { call, runFunction: executor.runFunction, users: ofStore.users };
  const ofProvider = { ...ofStore, functions: tokenFunctions(ofFunctions) };
  const login = once(async () => {
    const { openLogin } = await import("./login.ts");
    const devices = deviceApproval(ofProvider);
    const functions = loginFunctions(ofFunctions);
    const callForPerson = createPageCalls(endpoints);
    return openLogin(deps, { call, callForPerson, devices, functions, developmentMail });
  });
  const { errors, ...ofBrowsers } = browserPorts(login);
  const oidc = oidcEndpoints(createProvider({ ...ofProvider, ...ofBrowsers }), errors);
  const web = once(async () => {
    const { webHandler } = await import("../api/express.ts");
    const { pages } = await login();
    const own = [...documents(config, metrics, endpoints), logoPage(db), ...wellKnown({ db, now })];
    const ofPages = [...oidc.pages, ...pages].map((each) => ({ ...each, isPage: true }));
    return webHandler([...own, ...ofPages], serveWeb);
  });
  const proxies = trustedNetworks(config);
  const { tell } = await watchForProxies(kernel);
  const isProxy = trustedIn(proxies);
  const listening: Listening = await listen({
    host: config.host,
    port: config.port,
    isShared: siblings.number !== undefined,
    tls: certificateOf(config),
    maxConnections: connectionLimit(partOf(config, config.maxConnections)),
    resolveOrigin: resolveOrigin(proxies, config.proxyHeaders, tell),
    mayConnect: (address, open) => isProxy(address) || budgets.mayConnect(sourceOf(address), open),
    logger,
    ...dispatcher({
      endpoints,
      routes: restRoutes(endpoints),
      probes: probes(readiness),
      crossOrigin: crossOrigin(ports.instances, appReader(db)),
      webEndpoints: oidc.direct,
      serveWeb,
      streamServices: publicServices,
      streams,
      web,
    }),
  });
  const ownMetrics = await listenForMetrics(metrics, config, siblings.number !== undefined);
  const executing = executor.start();
  const jobs = startJobs(kernel, handlers, metrics);
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
      await Promise.all([executing, uses, refusals].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** The one way out, and which addresses inside it may reach. */
function egressOf({ config }: Kernel, resolver = systemResolver()) {
  const allow = egressAllowInForce(config.egressAllow, config.externalUrl);
  return {
    allow,
    outside: createEgressClient({ allow, resolver, userAgent: `idsvc/${version}` }),
  };
}

/** What is counted in memory and written a little later: refusals, and when credentials were last used. */
function recordersOf({ db, events, logger, now, newId }: Kernel) {
  return {
    refusals: createRefusals(
      { events, now, newId, homesOf: homesReader(db), people: users },
      (err) => logger.error({ err }, "what was refused cannot be recorded"),
    ),
    uses: createCredentialUses({ db, now }, (err) =>
      logger.error({ err }, "the last use of credentials cannot be written"),
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

const startBackground = ({ modules, logger }: Kernel, deps: Deps): AsyncDisposable[] =>
  modules.flatMap(
    ({ background }) =>
      background?.(deps, (err) => logger.error({ err }, "work in the background failed")) ?? [],
  );

type Made = {
  allow: ReturnType<typeof egressAllowInForce>;
  outside: ReturnType<typeof createEgressClient>;
  budgets: ReturnType<typeof createBudgets>;
  validator: ReturnType<typeof protovalidate>;
  uses: ReturnType<typeof createCredentialUses>;
  refusals: ReturnType<typeof createRefusals>;
  /** The paths of the methods that are served. */
  served: () => readonly string[];
};

/** What slices may use of the kernel. */
function depsOf(
  { config, db, events, logger, secrets, now, newId, featureDefaults }: Kernel,
  { allow, outside, budgets, validator, uses, refusals, served }: Made,
): Deps {
  const organizations = organizationReader(db);
  // What callers are told must be as new as what any replica has acknowledged.
  const currentOrganizations = {
    byId: current(db, organizations.byId),
    byDomain: current(db, organizations.byDomain),
  };
  return {
    noteUse: uses.note,
    noteRefusal: refusals.note,
    sessionMakers: sessionMakers({ db, secrets, now }),
    tokensInName: tokensInName({ db }),
    db,
    events,
    secrets,
    tenancy: organizationTenancy(db, currentOrganizations),
    organizations: currentOrganizations,
    memberships: membershipReader(db),
    newId,
    version,
    now,
    limits: {
      listDefault: config.listLimitDefault,
      listMax: config.listLimitMax,
      historyDefault: config.historyLimitDefault,
      historyMax: config.historyLimitMax,
      followers: { ofCaller: config.followersPerCaller, inAll: config.followers },
    },
    budgets,
    proveDomain: createDomainProof(outside),
    isBreached: createBreachScreen({
      file: config.breachedPasswordsFile,
      url: config.breachedPasswordsUrl,
      ...{ outside, logger },
    }),
    egress: outside,
    federation: createFederation({ egress: outside, now }),
    features: featureReader(db, featureDefaults),
    readMessage: messageReader(validator),
    checkUrl: (url, field) => checkTargetUrl(url, allow, field),
    registry: {
      methods: served,
      services: () => [...new Set(served().map((path) => path.slice(1, path.lastIndexOf("/"))))],
    },
  };
}

const budgetsOf = (config: Config, share: ShareBuckets) =>
  createBudgets(
    {
      guesses: config.budgetGuesses,
      messages: config.budgetMessages,
      recipientMessages: config.budgetRecipientMessages,
      senderMessages: config.budgetSenderMessages,
      registrations: config.budgetRegistrations,
      flows: config.budgetFlows,
      unauthenticated: config.budgetUnauthenticated,
      connections: partOf(config, config.budgetConnections),
    },
    share,
  );

/** The part of one process in what all that serve together may have; connections are handed to them in turn. */
const partOf = (config: Config, all: number): number => Math.ceil(all / processCount(config));

/** What the interceptors of calls ask. */
function portsOf(
  { config, db, secrets, logger, now, masterKeys }: Kernel,
  deps: Deps,
  parts: Pick<Ports, "organizations" | "validator" | "metrics" | "externalUrl" | "executions"> & {
    accessTokens: Ports["tokens"][number];
    share: ShareBuckets;
  },
): Ports {
  const { features, memberships, noteUse, noteRefusal, budgets } = deps;
  const { organizations, validator, metrics, externalUrl, executions, accessTokens, share } = parts;
  return {
    instances: instanceReader(db),
    organizations,
    memberships,
    powers: powerReader(db),
    registrations: registrationReader(deps),
    stepUp: stepUp({ db, organizations, now }),
    features,
    tokens: [
      sessionTokens({ db, secrets, organizations, memberships, now }),
      accessTokens,
      personalAccessTokens({ db, secrets, organizations, now, noteUse }),
      systemCallers(config.systemCallers, now),
      refuseNewerTokens,
    ],
    executions,
    validator,
    logger,
    metrics,
    noteRefusal,
    budgets,
    slowDown: createSlowDown(),
    showAddress: showAddresses(config.logAddresses, masterKeys.current.key, now),
    limitRate: config.rateLimit === 0 ? undefined : createRateLimiter(config.rateLimit, share),
    externalUrl,
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function documents(config: Config, metrics: Metrics, endpoints: Endpoint[]): WebEndpoint[] {
  let openApi: string | undefined;
  const document = { methods: ["GET"], crossOrigin: "none", anyHost: true } as const;
  return [
    metricsEndpoint(metrics, config),
    {
      ...document,
      path: "/openapi.json",
      async handle() {
        const { openApiDocument } = await import("../api/system/openapi.ts");
        const rules = endpoints.map(({ rule }) => rule);
        const issuer = config.externalUrl;
        openApi ??= JSON.stringify(openApiDocument(rules, { issuer, version }));
        return { status: 200, headers: { "content-type": "application/json" }, body: openApi };
      },
    },
  ];
}
