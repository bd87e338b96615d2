import { randomBytes } from "node:crypto";
import type { DomainError } from "../errors.ts";
import { languageCookie, readCookie } from "./agents.ts";
import { pageHeaders } from "./headers.ts";
import { chooseLanguage } from "../texts/languages.ts";
import type { Page } from "./page.ts";
import { blockedPage } from "./pages/blocked.ts";
import { type ErrorCode, errorPage, type ErrorView } from "./pages/error.ts";
import { paths } from "./paths.ts";
import { drawn } from "./shown-page.ts";
import type { LoginPorts, Tenant } from "./ports.ts";
import { shippedBranding } from "../settings/policy/branding.ts";
import { shippedLanguages } from "../settings/policy/language.ts";
import { texts } from "../texts/texts.ts";
import type { LoginAnswer, LoginErrors, LoginRequestContext, LoginRequest } from "./web.ts";

const blockedForSeconds = "3600";

type Parts = Pick<
  LoginPorts,
  "brandingOf" | "languagesOf" | "textsOf" | "tellTextsLeftOut" | "frameOriginsOf"
>;

/** How pages look where nothing is set. */
const shipped: Parts = {
  brandingOf: async () => shippedBranding,
  languagesOf: async () => shippedLanguages,
  textsOf: async () => new Map(),
  tellTextsLeftOut: () => {},
  frameOriginsOf: async () => [],
};

/** Whose settings count where no organization is known. */
export const wholeInstance = ({ instanceId }: { instanceId: string }): Tenant => ({
  instanceId,
  organizationId: undefined,
});

/** A page that belongs to no flow: it needs no cookie, and has no form. */
export async function plainPage(
  { brandingOf, languagesOf, textsOf }: Parts,
  { headers }: Pick<LoginRequest, "headers">,
  { instanceId }: Pick<LoginRequestContext, "instanceId">,
): Promise<Page> {
  const tenant = wholeInstance({ instanceId });
  const offered = await languagesOf(tenant);
  const language = chooseLanguage({
    cookie: readCookie(headers.get("cookie") ?? "", languageCookie),
    acceptLanguage: headers.get("accept-language") ?? undefined,
    allowed: offered.allowed,
    default: offered.default,
  });
  return {
    language,
    languages: offered.allowed,
    t: texts(language, await textsOf(tenant, language)),
    nonce: randomBytes(16).toString("base64url"),
    branding: await brandingOf(tenant),
    csrf: "",
  };
}

/** The error page. */
export async function showError(
  parts: Parts,
  request: LoginRequest,
  at: LoginRequestContext,
  { status, ...error }: Omit<ErrorView, "requestId"> & { status: number },
): Promise<LoginAnswer> {
  const view = { ...error, requestId: at.requestId };
  return answer(parts, request, at, status, (page) => errorPage(page, view));
}

/** While the store cannot be read, nobody can say how the pages of the instance look. */
async function showSomehow(...[parts, ...what]: Parameters<typeof showError>) {
  try {
    return await showError(parts, ...what);
  } catch {
    return showError(shipped, ...what);
  }
}

/** What browsers see when a page of the login, or of the provider, cannot be shown. */
export const loginErrors = (parts: Parts): LoginErrors => ({
  async errorPage(error, request, at) {
    const { reason, message, retryAfterSeconds = 1 } = error;
    const { code, status } = seenAs(error);
    const isOurs = code === "INTERNAL";
    const detail = isOurs ? {} : { detail: `${reason}: ${message}` };
    const view = { code, status, ...detail };
    const shown = await showSomehow(parts, request, at, view);
    if (status !== 503 && status !== 429) return shown;
    const headers = { ...shown.headers, "retry-after": String(retryAfterSeconds) };
    return { ...shown, headers };
  },

  async blockedPage(request, at) {
    const shown = await answer(parts, request, at, 503, blockedPage);
    return { ...shown, headers: { ...shown.headers, "retry-after": blockedForSeconds } };
  },
});

async function answer(
  parts: Parts,
  request: LoginRequest,
  at: LoginRequestContext,
  status: number,
  render: (page: Page) => string,
): Promise<LoginAnswer> {
  const page = await plainPage(parts, request, at);
  const isTls = at.issuer.startsWith("https:");
  const frameOrigins = await parts.frameOriginsOf(wholeInstance(at));
  const headers = pageHeaders({ nonce: page.nonce, isTls, frameOrigins, hasForms: false });
  const { language } = page;
  const body = drawn(page, render, () =>
    parts.tellTextsLeftOut(wholeInstance(at), { path: paths.error, language }),
  );
  return { status, headers, body };
}

function seenAs({ kind, httpStatus }: DomainError): { code: ErrorCode; status: number } {
  switch (kind) {
    case "internal":
      return { code: "INTERNAL", status: 500 };
    case "unavailable":
    case "aborted":
      return { code: "UNAVAILABLE", status: 503 };
    case "resourceExhausted":
      return httpStatus === 413
        ? { code: "REQUEST_INVALID", status: 413 }
        : { code: "RATE_LIMITED", status: 429 };
    case "deadlineExceeded":
      return { code: "REQUEST_INVALID", status: httpStatus ?? 408 };
    // An execution does not let it pass.
    case "permissionDenied":
    case "failedPrecondition":
      return { code: "NOT_ALLOWED", status: 403 };
    default:
      return { code: "REQUEST_INVALID", status: 400 };
  }
}
