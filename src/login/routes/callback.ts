import { presenceAs } from "../../authz/presence.ts";
import { DomainError } from "../../errors.ts";
import { callbackPath, jwtPath } from "../../federation/index.ts";
import { plainPage } from "../errors.ts";
import { pageHeaders } from "../headers.ts";
import { providerBackPage } from "../pages/provider-go.ts";
import { paths } from "../paths.ts";
import type { WaitingLogin } from "../ports.ts";
import { createProviderLogin } from "../provider-login.ts";
import { providerRefusal } from "../provider-refusals.ts";
import type { RouteParts } from "../route.ts";
import { openPageContext, organizationOf, PageRefused } from "../page-context.ts";
import type { LoginAnswer, LoginEndpoint, LoginRequestContext, LoginRequest } from "../web.ts";

type Parameters = ReadonlyMap<string, string>;

// A response of 256 KiB in base64, and what a form makes of some of its characters.
const longestSamlForm = 384 * 1024;

/**
 * Where identity providers send browsers back to. An answer counts once, and only in the browser, and in the flow, that
 * the login was begun in (D61, D62). What a provider had the browser post comes without our cookies, so a page
 * of ours posts it once more.
 */
export function callbackEndpoints(parts: RouteParts): LoginEndpoint[] {
  const login = createProviderLogin(parts);

  async function answered(
    request: LoginRequest,
    at: LoginRequestContext,
    parameters: Parameters,
    row: WaitingLogin,
  ): Promise<LoginAnswer> {
    const by = {
      instanceId: at.instanceId,
      issuer: at.issuer,
      requestId: at.requestId,
      presence: presenceAs(at.where, { flowId: row.flowId || undefined, isVisitor: true }),
      editorId: "system:login",
      service: "login",
      clientId: "",
    };
    const answer = { parameters, header: (name: string) => request.headers.get(name) };
    if (row.flowId === "") return toCaller(row, await row.answer(by, answer).catch(told));
    const url = `${paths.provider}?${new URLSearchParams({ flow: row.flowId })}`;
    // As a page of the flow: only its own browser opens it. Nothing is spent before.
    const context = await openPageContext(parts, { ...request, method: "GET", url }, at);
    try {
      const outcome = await row.answer(by, answer);
      return await login.arrived(context, outcome);
    } catch (error) {
      if (error instanceof DomainError && error.reason === "IDP_DENIED") {
        return context.go(paths.loginName, { problem: "PROVIDER_DENIED" });
      }
      throw providerRefusal(error, context);
    }
  }

  const endpoint = (
    path: string,
    methods: LoginEndpoint["methods"],
    check: (row: WaitingLogin, request: LoginRequest) => boolean = () => true,
  ): LoginEndpoint => ({
    path,
    methods,
    crossOrigin: "none",
    async handle(request, at) {
      const parameters = await parametersOf(request);
      const row = await waitingFor(parts, at, parameters);
      if (!check(row, request)) {
        throw new PageRefused(
          "PROVIDER_FAILED",
          400,
          "IDP_STATE_UNKNOWN: the login was begun with another provider",
        );
      }
      if (request.method === "POST" && parameters.get("again") !== "true") {
        return again(parts, request, at, parameters, row);
      }
      return answered(request, at, parameters, row);
    },
  });

  return [
    endpoint(callbackPath, ["GET", "POST"]),
    endpoint(jwtPath, ["GET"]),
    {
      ...endpoint(
        "/idps/:id/saml/acs",
        ["POST"],
        (row, request) => row.idpId === idIn(pathOf(request)),
      ),
      maxBodyBytes: longestSamlForm,
    },
    samlMetadata(parts),
  ];
}

async function waitingFor(
  { intents }: RouteParts,
  at: LoginRequestContext,
  parameters: Parameters,
): Promise<WaitingLogin> {
  const state = parameters.get("state") ?? parameters.get("RelayState") ?? "";
  const row = await intents.waiting(at.instanceId, state);
  if (row !== undefined) return row;
  throw new PageRefused(
    "PROVIDER_FAILED",
    400,
    "IDP_STATE_UNKNOWN: no login waits for this answer: it has expired, or was never begun",
  );
}

/** A page that posts it once more, to the same address; from there the app that waits may be reached. */
async function again(
  parts: RouteParts,
  request: LoginRequest,
  at: LoginRequestContext,
  parameters: Parameters,
  row: WaitingLogin,
): Promise<LoginAnswer> {
  const page = await plainPage(parts, request, at);
  const flow = row.flowId === "" ? undefined : await parts.flows.load(at.instanceId, row.flowId);
  const waiting = [flow?.data.request?.redirectUri, row.successUrl, row.failureUrl];
  const headers = pageHeaders({
    nonce: page.nonce,
    isTls: at.issuer.startsWith("https:"),
    formTargets: waiting.filter((each) => each !== undefined).filter((each) => each !== ""),
    frameOrigins: await parts.frameOriginsOf({
      instanceId: at.instanceId,
      organizationId: await organizationOf(parts, at.instanceId, flow?.data),
    }),
    hasForms: true,
  });
  const action = pathOf(request);
  const body = providerBackPage(page, { action, parameters: [...parameters] });
  return { status: 200, headers, body };
}

/** What went wrong at the provider, or with what it said: whoever began the intent is told. */
function told(error: unknown): DomainError {
  if (!(error instanceof DomainError) || error.kind === "internal") throw error;
  return error;
}

/** Leads to where the caller who began an intent of their own wanted to hear of its end. */
const toCaller = (
  { id, successUrl, failureUrl }: WaitingLogin,
  outcome: DomainError | { token: string; userId?: string | undefined },
): LoginAnswer =>
  outcome instanceof DomainError
    ? leaveTo(failureUrl, { id, error: outcome.reason, error_description: outcome.message })
    : leaveTo(successUrl, {
        id,
        token: outcome.token,
        ...(outcome.userId === undefined ? {} : { user: outcome.userId }),
      });

/** What a provider of SAML must know of us. */
const samlMetadata = ({ intents }: RouteParts): LoginEndpoint => ({
  path: "/idps/:id/saml/metadata",
  methods: ["GET"],
  crossOrigin: "none",
  async handle(request, at) {
    const found = await intents.samlMetadata(at, idIn(pathOf(request)));
    if (found === undefined) throw new PageRefused("NOT_FOUND", 404);
    const headers = {
      "content-type": "application/samlmetadata+xml",
      "cache-control": "max-age=300",
      "x-content-type-options": "nosniff",
    };
    return { status: 200, headers, body: found };
  },
});

const pathOf = ({ url }: LoginRequest): string => new URL(url, "http://localhost").pathname;
const idIn = (path: string): string => decodeURIComponent(path.split("/")[2] ?? "");

async function parametersOf(request: LoginRequest): Promise<Parameters> {
  const encoded =
    request.method === "POST" ? await request.text() : (request.url.split("?", 2)[1] ?? "");
  const all = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(encoded)) {
    // A parameter that comes twice could mean two things to two readers.
    if (all.has(name)) throw new PageRefused("REQUEST_INVALID", 400, `${name} came twice`);
    all.set(name, value);
  }
  return all;
}

function leaveTo(address: string, parameters: Record<string, string>): LoginAnswer {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const headers = {
    location: url.href,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  };
  return { status: 303, headers, body: "" };
}
