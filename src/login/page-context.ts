import { presenceAs } from "../authz/presence.ts";
import type { InnerCaller } from "../authz/service.ts";
import { sourceOf } from "../authz/source.ts";
import { type Agent, agentCookie, type Agents, isCsrfTokenOf, languageCookie } from "./agents.ts";
import type { Presence } from "../eventstore/presence.ts";
import type { Flow, FlowData } from "./flow.ts";
import { type FlowStore, longestAddress } from "./flow-store.ts";
import { isLanguage, type Language } from "../texts/languages.ts";
import type { Page, Problem, NoticeCode } from "./page.ts";
import type { ErrorCode } from "./pages/error.ts";
import type { LoginPorts, Tenant } from "./ports.ts";
import { openReturned, type Returned, returnedName, sealReturned } from "./returned.ts";
import { drawnIn, languageFor, pageWith, toldBy } from "./shown-page.ts";
import type { LoginAnswer, LoginRequestContext, LoginRequest } from "./web.ts";

// What a browser makes of a passkey is longer than anything that people type. Longer values are cut: to normalise a text takes
// a time that grows with the square of its length (J17).
const longestValues = new Map([
  ["credential", 10_000],
  ["flow", longestAddress],
  [returnedName, longestAddress],
]);
const longestTyped = 1_000;

/** A page that cannot be shown, and the error page in its place. */
export class PageRefused extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** What exactly was wrong, for whoever runs the application, in English. */
  readonly detail: string | undefined;
  /** The flow that can go on in another way. */
  flowId: string | undefined;
  /** The flow stands at another page, which is shown instead; only where there is none, this is an error. */
  isElsewhere = false;
  /** The application that waited, and where it is. */
  back: { app: string; url: string } | undefined;
  constructor(code: ErrorCode, status: number, detail?: string, cause?: unknown) {
    super(detail ?? code, { cause });
    this.detail = detail;
    this.name = "PageRefused";
    this.code = code;
    this.status = status;
  }
}

export type Shown = {
  problems?: readonly Problem[];
  notice?: NoticeCode | undefined;
  /** Addresses that the form may lead to, beside that of the app that waits. */
  formTargets?: readonly string[];
  /** Path and query that show this page again. */
  self?: string;
  status?: number;
  hasForms?: boolean;
  /** Whose settings count, where that is not who the flow is bound to. */
  tenant?: Tenant;
  /** No page frames it, not even those that may frame the login. */
  isUnframed?: true;
};

/** The request context of a page: one request of a browser to the login, with everything that is known of it. */
export type PageContext = {
  readonly at: LoginRequestContext;
  readonly isTls: boolean;
  readonly query: ReadonlyMap<string, string>;
  /** A header of the request. */
  header(name: string): string | undefined;
  /** What was sent; of a page that shows a form again, what was typed there before. */
  readonly form: ReadonlyMap<string, string>;
  readonly agent: Agent;
  readonly tenant: Tenant;
  readonly language: Language;
  /** The flow that the page belongs to. @throws PageRefused where there is none */
  readonly flow: Flow;
  readonly hasFlow: boolean;
  /** Who is there: a browser, of which it turns out who it is. */
  readonly presence: Presence;
  /** Changes the flow. What is entered, which is what a form sends, makes it stay; before it is but an address. */
  save(data: FlowData): Promise<Flow>;
  /** Changes the flow for the rest of the request; it is stored by the next `save`, or else once the request is answered. */
  note(data: FlowData): Promise<void>;
  /** Stores what was noted and not saved since. */
  settle(): Promise<void>;
  /** The flow, which stays from now on although nothing was entered: something else is about to refer to it. */
  persisted(): Promise<Flow>;
  /** Gives the browser a new cookie with these sessions. */
  renew(sessionIds: readonly string[]): Promise<void>;
  show(render: (page: Page) => string, shown?: Shown): Promise<LoginAnswer>;
  go(path: string, query?: Record<string, string>): LoginAnswer;
  /** Leads back to the form that was sent, with what was typed but for passwords: every POST answers with a redirect (L12). */
  again(returned: Pick<Returned, "problems" | "notice">, path?: string): Promise<LoginAnswer>;
  /** What was typed, but for passwords, sealed for this browser and the page at a path: the value of `returnedName`. */
  sealed(returned: Pick<Returned, "problems" | "notice">, path?: string): Promise<string>;
  asService(organizationId?: string): InnerCaller;
};

type Parts = LoginPorts & { agents: Agents; flows: FlowStore };

/**
 * Opens a request: the browser by its cookie (or a new one), the flow that it names, the language. A form counts only when
 * it came from a page of ours, in this browser (D57).
 *
 * @throws PageRefused
 */
export async function openPageContext(
  parts: Parts,
  request: LoginRequest,
  at: LoginRequestContext,
): Promise<PageContext> {
  const isForm = request.method === "POST";
  const count = countedOnce(parts, at);
  const { isTls, path, query, sent, found, ...browser } = await receive(parts, request, at, count);
  let { agent, isNew } = browser;
  const here = { instanceId: at.instanceId, agentId: agent.id, path };
  const sealed = isForm ? undefined : query.get(returnedName);
  const returned =
    sealed === undefined ? undefined : await openReturned(parts.secrets, here, sealed);
  const form = returned === undefined ? sent : new Map(Object.entries(returned.values ?? {}));

  const organizationId = await organizationOf(parts, at.instanceId, found?.data);
  const tenant: Tenant = { instanceId: at.instanceId, organizationId };
  const wished = query.get("ui_locales");
  const { language, allowed } = await languageFor(parts, tenant, request, wished, found?.data);

  const flows = flowChanges(parts, {
    instanceId: at.instanceId,
    agentId: agent.id,
    isForm,
    count,
    flow: wished === undefined ? found : await inLanguage(parts, at, found, language),
  });

  const go = (to: string, more: Record<string, string> = {}): LoginAnswer =>
    redirect(
      to,
      { ...(flows.flow === undefined ? {} : { flow: flows.flow.address }), ...more },
      cookiesToSet(),
    );

  const seal = (told: Pick<Returned, "problems" | "notice">, to: string) =>
    sealReturned(parts.secrets, { ...here, path: to }, told, form);

  const cookiesToSet = (): string[] => [
    ...(isNew ? [agentCookie(agent, isTls)] : []),
    ...(wished === undefined ? [] : cookieOfLanguage(language, isTls)),
  ];

  return {
    at,
    isTls,
    query,
    header: (name) => request.headers.get(name) ?? undefined,
    form,
    tenant,
    language,
    get agent() {
      return agent;
    },
    get flow() {
      if (flows.flow === undefined) throw new PageRefused("FLOW_NOT_FOUND", 400);
      return flows.flow;
    },
    get hasFlow() {
      return flows.flow !== undefined;
    },
    save: flows.save,
    note: flows.note,
    settle: flows.settle,
    persisted: flows.persisted,
    get presence() {
      return presenceIn(at, flows.flow);
    },
    async renew(sessionIds) {
      agent = await parts.agents.renew(at.instanceId, agent, sessionIds);
      isNew = true;
    },
    async show(render, shown = {}) {
      const seen = { isTls, path, tenant, language, languages: allowed, agent, flow: flows.flow };
      const all = { ...toldBy(returned), ...shown };
      const { page, headers, tellTextsLeftOut } = await pageWith(parts, seen, all);
      const body = await drawnIn(flows, page, render, tellTextsLeftOut);
      return { status: shown.status ?? 200, headers, body, cookies: cookiesToSet() };
    },
    go,
    again: async (told, to = here.path) => go(to, { [returnedName]: await seal(told, to) }),
    sealed: (told, to = here.path) => seal(told, to),
    asService: (ofOrganization) => serviceAt(at, agent, flows.flow, ofOrganization),
  };
}

/** The flow of one request, and how it changes. */
function flowChanges(
  { flows }: Parts,
  request: {
    instanceId: string;
    agentId: string;
    isForm: boolean;
    /** Counts that a flow is begun. */
    count: () => void;
    flow: Flow | undefined;
  },
) {
  const { instanceId, agentId, isForm, count } = request;
  let { flow } = request;
  let isNoted = false;

  async function save(data: FlowData, isEntered = isForm): Promise<Flow> {
    if (flow === undefined) {
      count();
      flow = await flows.begin(instanceId, agentId, data);
      if (flow.isPersisted || !isEntered) return flow;
    }
    isNoted = false;
    return (flow = await flows.save(instanceId, flow, data, { isEntered }));
  }

  return {
    get flow() {
      return flow;
    },
    save: (data: FlowData) => save(data),
    async note(data: FlowData): Promise<void> {
      // The address of a flow changes when it is first stored.
      if (flow?.isPersisted !== true) return void (await save(data));
      flow = { ...flow, data };
      isNoted = true;
    },
    async settle(): Promise<void> {
      if (isNoted && flow !== undefined) await save(flow.data);
    },
    /** What names the flow gets short. */
    async shorten(): Promise<void> {
      if (flow?.isPersisted === false) flow = await flows.shorten(instanceId, flow);
    },
    persisted: async (): Promise<Flow> =>
      flow?.isPersisted === true ? flow : save(flow?.data ?? {}, true),
  };
}

/**
 * What a request brings: its parameters, the browser that it comes from, and the flow of that browser that it names.
 * @throws PageRefused
 */
async function receive(
  parts: Parts,
  request: LoginRequest,
  at: LoginRequestContext,
  count: () => void,
) {
  const isTls = at.issuer.startsWith("https:");
  const cookies = request.headers.get("cookie") ?? "";
  const [path = "", search = ""] = request.url.split("?", 2);
  const query = single(search);
  const isForm = request.method === "POST";
  const sent = isForm ? await readForm(request) : new Map<string, string>();
  const known = await parts.agents.load(at.instanceId, cookies, isTls);
  const address = sent.get("flow") ?? query.get("flow");
  const found = address === undefined ? undefined : await parts.flows.load(at.instanceId, address);
  if (isForm) requireOwnForm(request, at, known, sent, found);
  if (known === undefined) count();
  const agent = known ?? (await parts.agents.create(at.instanceId));
  if (address !== undefined && found?.agentId !== agent.id) {
    throw await noFlow(parts, at.instanceId, agent, address);
  }
  const isNew = known === undefined;
  return { isTls, path: pathIn(path), query, sent, agent, isNew, found };
}

/** A browser that comes without a cookie begins something, and so does who begins a flow. */
function countedOnce({ deps }: Parts, { peer }: LoginRequestContext): () => void {
  let isCounted = false;
  return () => {
    if (!isCounted) deps.budgets.spend("flows", sourceOf(peer));
    isCounted = true;
  };
}

/** The flow goes on in the language that was chosen on a page. */
async function inLanguage(
  { flows }: Parts,
  { instanceId }: LoginRequestContext,
  flow: Flow | undefined,
  language: string,
): Promise<Flow | undefined> {
  if (flow === undefined || flow.data.language === language) return flow;
  return flows.save(instanceId, flow, { ...flow.data, language }, { isEntered: false });
}

function redirect(to: string, query: Record<string, string>, cookies: string[]): LoginAnswer {
  const all = new URLSearchParams(query);
  const headers = {
    location: all.size === 0 ? to : `${to}?${all}`,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
  };
  return { status: 303, headers, body: "", cookies };
}

/** The browser remembers the language that was chosen on a page. */
const cookieOfLanguage = (language: string, isTls: boolean): string[] => {
  if (!isLanguage(language)) return [];
  const secure = isTls ? "; Secure" : "";
  return [`${languageCookie}=${language}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`];
};

/** The login calls methods of the services in its own name. */
const serviceAt = (
  at: LoginRequestContext,
  agent: Agent,
  flow: Flow | undefined,
  organizationId: string | undefined,
): InnerCaller => ({
  instanceId: at.instanceId,
  issuer: at.issuer,
  requestId: at.requestId,
  source: sourceOf(at.peer),
  presence: presenceIn(at, flow),
  as: { system: "login" },
  browser: agent.id,
  ...(organizationId === undefined ? {} : { organizationId }),
});

/** A flow that ended leads back to the application that waited for it, from where it may begin anew (L12). */
async function noFlow(
  { flows, appOf }: Parts,
  instanceId: string,
  agent: Agent,
  address: string,
): Promise<PageRefused> {
  const refused = new PageRefused("FLOW_NOT_FOUND", 400);
  const waited = await flows.waitedFor(instanceId, agent.id, address);
  const app = waited && (await appOf(instanceId, waited.clientId));
  const { origin } = new URL(waited?.redirectUri ?? "about:blank");
  if (app !== undefined && origin !== "null") refused.back = { app: app.name, url: `${origin}/` };
  return refused;
}

const pathIn = (address: string): string => new URL(address, "http://localhost").pathname;

const presenceIn = ({ where }: LoginRequestContext, flow: Flow | undefined): Presence =>
  presenceAs(where, { flowId: flow?.id, sessionId: flow?.data.sessionId, isVisitor: true });

/** The organization that an app has bound the log-in to, or whose user links an account. */
export async function organizationOf(
  { db, organizations }: LoginPorts,
  instanceId: string,
  data: FlowData | undefined,
): Promise<string | undefined> {
  const linking = data?.own?.linking;
  const wanted = data?.request?.organization ?? (linking && { id: linking.organizationId });
  if (wanted === undefined) return undefined;
  await db.catchUp();
  const found =
    "id" in wanted
      ? await organizations.byId(instanceId, wanted.id)
      : await organizations.byDomain(instanceId, wanted.primaryDomain.toLowerCase());
  return found?.id;
}

/** @throws PageRefused FORM_REFUSED, with the flow of this browser that it is of */
function requireOwnForm(
  { headers }: LoginRequest,
  { issuer }: LoginRequestContext,
  agent: Agent | undefined,
  form: ReadonlyMap<string, string>,
  flow: Flow | undefined,
): void {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const isOwn =
    origin === null || origin === "null"
      ? site === "same-origin" || (origin === null && site === null)
      : origin === issuer;
  if (isOwn && agent !== undefined && isCsrfTokenOf(agent, form.get("csrf") ?? "")) return;
  const refused = new PageRefused("FORM_REFUSED", 403);
  if (flow !== undefined && flow.agentId === agent?.id) refused.flowId = flow.address;
  throw refused;
}

async function readForm(request: LoginRequest): Promise<ReadonlyMap<string, string>> {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") throw new PageRefused("FORM_REFUSED", 415);
  return single(await request.text());
}

/** Of a name that comes twice the first counts: forms of ours send none twice. */
function single(encoded: string): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(encoded)) {
    if (!all.has(name)) all.set(name, value.slice(0, longestValues.get(name) ?? longestTyped));
  }
  return all;
}
