import { type Awaitable, whenKnown } from "../awaitable.ts";
import { hostName, issuerOf } from "../authz/host.ts";
import type { BudgetName, Budgets } from "../authz/budgets.ts";
import type { BeforeChange, InstanceReader, NoteRefusal, Refused } from "../authz/ports.ts";
import { presenceAs, type Where, whereOf } from "../authz/presence.ts";
import type { ShowAddress } from "../authz/shown-address.ts";
import { sourceOf } from "../authz/source.ts";
import { type WebLine, type WebNote, webLogger } from "../telemetry/call-line.ts";
import { type DomainError, invalidArgument } from "../errors.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { CountRequest, Metrics } from "../telemetry/metrics.ts";
import { type Span, type SpanStart, type Tracing, within } from "../telemetry/tracing.ts";
import { httpForm, toDomainError } from "./errors.ts";
import { createDeferral, type Defer } from "./deferral.ts";
import type { Exchange } from "./exchange.ts";
import { unknownHost } from "./interceptors/instance.ts";
import { requestSpan } from "./request-span.ts";
import type { SlowDown } from "./slow-down.ts";
import { createSourceGate, type Permit } from "./source-gate.ts";
import { respondRestError } from "./transcode/rest.ts";

/** The part of a WHATWG `Request` that endpoints read: a whole one costs more than most of their work. */
export type WebRequest = {
  method: string;
  /** Absolute, on the host that was called. */
  url: string;
  headers: {
    get(name: string): string | null;
    /** How often the header came; `get` gives one of them. */
    count(name: string): number;
  };
  /** The body as text. @throws BODY_TOO_LARGE beyond what the endpoint takes; TOO_MANY_PARAMETERS */
  text(): Promise<string>;
};

export type WebAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
  /** One `Set-Cookie` header each. */
  cookies?: string[];
  /** What went wrong, where the answer tells only that something did: for the log. */
  cause?: unknown;
  /** What the answer may not tell: for the line of the log. */
  note?: WebNote;
  /** It refuses somebody who has proven nothing: it takes one from the budget of their source (J12). */
  isUnproven?: boolean | undefined;
};

/** Where a request came in: the instance of its host (empty where there is none), and the client's address. */
export type WebContext = {
  instanceId: string;
  issuer: string;
  isBlocked: boolean;
  requestId: string;
  peer: string;
  /** What the request tells of where it comes from. */
  where: Where;
  scheme: "http" | "https";
};

/** An endpoint or a page that is not RPC. */
export type WebEndpoint = {
  path: string;
  methods: readonly ("GET" | "POST")[];
  /** Which pages of other origins may read its answers: those of active apps, any, or none. */
  crossOrigin: "apps" | "any" | "none";
  /** The longest body in bytes; 64 KiB where nothing else is said, since anybody may send one (J17). */
  maxBodyBytes?: number | undefined;
  /** Browsers are led to it: few requests of one source are served at once, the others wait. */
  isPage?: boolean | undefined;
  /** Its requests usually change something: they are spread over a flush that is under way (`storage/database.ts`). */
  isChange?: boolean | undefined;
  /** Each request takes one from this budget of its source. */
  budget?: BudgetName | undefined;
  /** Answers on hosts of no instance too (B1). */
  anyHost?: true;
  handle: (request: WebRequest, at: WebContext) => Awaitable<WebAnswer>;
  /** What is told of an error that `handle` throws; without it, or when it fails too, it is told as the REST API does. */
  errorPage?: (error: DomainError, request: WebRequest, at: WebContext) => Promise<WebAnswer>;
};

export type ServeWeb = (endpoint: WebEndpoint, exchange: Exchange) => Promise<void>;

// A log-in takes ten; a browser alone never comes near it.
const pagesOfSource = { atOnce: 8, perSecond: 50 };
const usualBodyBytes = 64 * 1024;

type Ports = {
  instances: InstanceReader;
  externalUrl: URL;
  logger: Logger;
  showAddress: ShowAddress;
  budgets: Pick<Budgets, "spend">;
  slowDown: SlowDown;
  beforeChange: BeforeChange | undefined;
  noteRefusal: NoteRefusal;
  metrics: Pick<Metrics, "requestsOf">;
  tracing: Tracing | undefined;
};

/** Serves endpoints: finds the instance, and tells of each request in one line of the log. */
export function webServer(ports: Ports): ServeWeb {
  const { instances, externalUrl, showAddress, budgets, slowDown, noteRefusal, tracing } = ports;

  function enter(exchange: Exchange, anyHost: boolean): Awaitable<WebContext> {
    return whenKnown(instances.byDomain(hostName(exchange.host)), (instance) => {
      if (instance === undefined && !anyHost) {
        budgets.spend("unauthenticated", sourceOf(exchange.peer));
        throw unknownHost(exchange.host, externalUrl);
      }
      return contextOf(ports, exchange, instance);
    });
  }

  const pages = createSourceGate(pagesOfSource);

  const stateOf = statesOf(ports);

  async function servePage(endpoint: WebEndpoint, exchange: Exchange): Promise<void> {
    const permit = await pages.enter(sourceOf(exchange.peer), exchange.onGone);
    try {
      await serve(endpoint, exchange, permit);
    } finally {
      permit.leave();
    }
  }

  function serve(endpoint: WebEndpoint, exchange: Exchange, permit?: Permit): Promise<void> {
    if (tracing === undefined) return answer(endpoint, exchange, permit, undefined);
    const span = spanOf(tracing, endpoint, exchange);
    const run = () => answer(endpoint, exchange, permit, span);
    return span === undefined ? run() : within(span, run);
  }

  async function answer(
    endpoint: WebEndpoint,
    exchange: Exchange,
    permit: Permit | undefined,
    span: Span | undefined,
  ): Promise<void> {
    const started = performance.now();
    const { requestId } = exchange;
    let at: WebContext | undefined;
    let status: number;
    let reason: string | undefined;
    let note: WebNote | undefined;
    const of = stateOf(endpoint);
    try {
      const entering = enter(exchange, endpoint.anyHost ?? false);
      at = entering instanceof Promise ? await entering : entering;
      if (endpoint.budget !== undefined) budgets.spend(endpoint.budget, sourceOf(exchange.peer));
      const entered = at;
      if (endpoint.isChange === true) await ports.beforeChange?.();
      const request = toRequest(exchange, endpoint.maxBodyBytes);
      const answered = await of.defer(() => endpoint.handle(request, entered));
      if (answered.isUnproven) budgets.spend("unauthenticated", sourceOf(exchange.peer));
      ({ status, note } = answered);
      if (answered.cause !== undefined) tellFailure(ports, endpoint, exchange, answered.cause);
      respond(exchange, answered);
    } catch (thrown) {
      const error = toDomainError(thrown, requestId);
      ({ reason } = error);
      if (error.reason === "BUDGET_SPENT") {
        // Others of the source need not wait for it.
        permit?.leave();
        await slowDown(exchange.peer, exchange.onGone);
      }
      if (error.kind === "internal") tellFailure(ports, endpoint, exchange, thrown);
      // Where nobody could say whose host it is, the refusal is still told in the words of the endpoint.
      const told =
        at ?? (error.kind === "notFound" ? undefined : contextOf(ports, exchange, undefined));
      const page = told && (await pageOf(endpoint, exchange, error, told));
      status = page?.status ?? httpForm(error).status;
      note = page?.note ?? { reason };
      if (page === undefined) respondRestError(exchange, error);
      else respond(exchange, page);
    }
    if (status === 429 && at !== undefined && at.instanceId !== "") {
      noteRefusal(tooOften(endpoint, at, reason));
    }
    const ms = Math.round((performance.now() - started) * 1000) / 1000;
    const { instanceId } = at ?? {};
    const clientAddress = showAddress(exchange.peer);
    of.count(status, ms / 1_000, span);
    if (span !== undefined) noteIn(span, { status, instanceId, reason: note?.reason });
    of.log({ status, ms, instanceId, requestId, traceId: span?.traceId, clientAddress, note });
  }

  return (endpoint, exchange) => (endpoint.isPage ? servePage : serve)(endpoint, exchange);
}

/** Pages belong to the trace of their log-in, which they tell when it is found. */
function spanOf(
  tracing: Tracing,
  { path, isPage }: WebEndpoint,
  exchange: Exchange,
): Span | undefined {
  const start = (): SpanStart => {
    const { httpMethod, requestId } = exchange;
    const attributes = {
      "http.route": path,
      "http.request.method": httpMethod,
      "idsvc.request_id": requestId,
    };
    return { name: `${httpMethod} ${path}`, kind: "server", attributes };
  };
  return requestSpan(tracing, start, exchange, isPage === true);
}

const noteIn = (
  span: Span,
  ended: { status: number; instanceId: string | undefined; reason: string | undefined },
): void =>
  span.note({
    "http.response.status_code": ended.status,
    ...(ended.instanceId === undefined ? {} : { "idsvc.instance_id": ended.instanceId }),
    ...(ended.reason === undefined ? {} : { "idsvc.reason": ended.reason }),
  });

type Instance = Awaited<ReturnType<InstanceReader["byDomain"]>>;

const contextOf = ({ externalUrl }: Ports, exchange: Exchange, instance: Instance): WebContext => ({
  instanceId: instance?.id ?? "",
  issuer: issuerOf(externalUrl, hostName(exchange.host)),
  isBlocked: instance?.isBlocked ?? false,
  requestId: exchange.requestId,
  peer: exchange.peer,
  where: whereOf(exchange.peer, exchange.headers),
  scheme: exchange.scheme,
});

type State = { defer: Defer; log: (line: WebLine) => void; count: CountRequest };

/** What there is once an endpoint: what runs its requests, their line of the log, and their counter. */
function statesOf({ logger, metrics }: Ports): (endpoint: WebEndpoint) => State {
  const states = new Map<string, State>();
  return ({ path }) => {
    let state = states.get(path);
    if (state === undefined) {
      state = {
        defer: createDeferral(),
        log: webLogger(logger, path),
        count: metrics.requestsOf(path),
      };
      states.set(path, state);
    }
    return state;
  };
}

const tellFailure = (
  { logger, showAddress }: Ports,
  { path }: WebEndpoint,
  { requestId, peer }: Exchange,
  err: unknown,
): void =>
  logger.error({ path, requestId, clientAddress: showAddress(peer), err }, "request failed");

/** What came too often is kept with its source (J15). Who it was is not known before they are let in. */
const tooOften = (
  { path, isPage }: WebEndpoint,
  { instanceId, where }: WebContext,
  reason = "BUDGET_SPENT",
): Refused => ({
  instanceId,
  kind: isPage === true ? "login" : "client",
  reason,
  operation: path,
  presence: presenceAs(where, {}),
});

/** The page of an error, where the endpoint has one that can be shown. */
async function pageOf(
  { errorPage }: WebEndpoint,
  exchange: Exchange,
  error: DomainError,
  at: WebContext,
): Promise<WebAnswer | undefined> {
  try {
    return await errorPage?.(error, toRequest(exchange), at);
  } catch {
    return undefined;
  }
}

function respond(exchange: Exchange, { status, headers, body, cookies }: WebAnswer): void {
  const all: Record<string, string | string[]> =
    cookies === undefined || cookies.length === 0 ? headers : { ...headers, "set-cookie": cookies };
  exchange.respond({ status, headers: all, body });
}

function toRequest(exchange: Exchange, maxBodyBytes = usualBodyBytes): WebRequest {
  const { httpMethod, path, query, headers, scheme, host } = exchange;
  return {
    method: httpMethod,
    url: `${scheme}://${host}${path}${query === "" ? "" : `?${query}`}`,
    headers: {
      get: (name) => headers.get(name) ?? null,
      count: (name) => headers.count(name),
    },
    text: async () => formText(await exchange.readBody(maxBodyBytes)),
  };
}

/**
 * A body as text. Those of endpoints are forms: to take apart one of very many parameters takes longer than it weighs.
 * @throws INVALID_ARGUMENT TOO_MANY_PARAMETERS
 */
export function formText(body: Uint8Array): string {
  const text = (Buffer.isBuffer(body) ? body : Buffer.from(body)).toString("utf8");
  let count = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) count += 1;
  if (count <= mostParameters) return text;
  const most = `a form may have ${mostParameters} parameters`;
  throw invalidArgument("TOO_MANY_PARAMETERS", most);
}
const mostParameters = 1_000;

/** The methods of an endpoint as `Allow` tells them: where GET is, HEAD is. */
export const allowedMethods = ({ methods }: WebEndpoint): string[] =>
  [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort();
