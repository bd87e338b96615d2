import { html, type Html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { emblem } from "../parts/emblem.ts";
import { link, outwardLink } from "../parts/form.ts";
import { paths } from "../paths.ts";

/** Errors that end at a page of ours, each with a phrase for whoever runs the application, on English pages. */
export const errorPhrases = {
  FLOW_NOT_FOUND: "the login flow is unknown, over, or of another browser",
  FORM_REFUSED: "the form did not come from this page",
  CLIENT_UNKNOWN: "client_id is not registered",
  REDIRECT_URI_INVALID: "redirect_uri is not registered for this client",
  REQUEST_INVALID: "the request is not valid",
  NOT_ALLOWED: "the user may not use this application",
  REGISTRATION_OFF: "registration is switched off",
  PROVIDER_FAILED: "the identity provider did not answer as expected",
  PROVIDER_UNAVAILABLE: "the identity provider does not answer",
  PROVIDER_OFF: "the identity provider is not active for the organization",
  PROVIDER_NO_ACCOUNT: "nobody here has the account of the identity provider",
  PROVIDER_NOT_LINKED: "the account of the identity provider could not be linked",
  NOT_FOUND: "there is no such page",
  METHOD_NOT_ALLOWED: "the method is not allowed",
  RATE_LIMITED: "too many requests",
  UNAVAILABLE: "the service is unavailable",
  INTERNAL: "internal error",
} as const;

export type ErrorCode = keyof typeof errorPhrases;

export type ErrorView = {
  code: ErrorCode;
  /** What exactly was wrong, for whoever runs the application, in English. */
  detail?: string;
  requestId: string;
  /** It ends a page of the login, which may be begun anew. */
  isOfLogin?: boolean;
  /** The flow that can go on: where it stands, or in another way. */
  flowId?: string;
  /** An address of the application that is known to be its own. */
  back?: { app: string; url: string };
};

/** Tells what happened and what to do. Programs find the code in `data-error` of `main`. */
export function errorPage(page: Page, view: ErrorView): string {
  const { code, detail, requestId, back, isOfLogin } = view;
  const { t } = page;
  const isEnglish = page.language === "en";
  return layout(
    page,
    { title: t(`error.${code}.title`), lead: t(`error.${code}.text`), error: code },
    html`${emblem("alert", "grave")}
${isOfLogin ? onward(page, view) : link(page, paths.account, t("account.title"), "button plain")}
${back !== undefined && outwardLink(back.url, t("loggedOut.back", { app: back.app }), "button plain")}
<div class="reference"><p class="small">${t("error.what")}</p>${isEnglish && html`<p id="error-phrase">${errorPhrases[code]}</p>`}${detail !== undefined && html`<p lang="en" id="error-detail">${isEnglish ? detail : reasonIn(detail)}</p>`}<p><code id="request-id">${requestId}</code></p></div>`,
  );
}

/** The code that a detail begins with: sentences in English stand on English pages alone. */
const reasonIn = (detail: string): string => /^[A-Za-z_]+(?=:)/.exec(detail)?.[0] ?? "";

/** A form that was refused is asked for again where its flow stands; what else has failed is tried in another way; or all begins anew. */
function onward(page: Page, { code, flowId }: ErrorView): Html {
  const { t } = page;
  if (flowId === undefined) return link(page, paths.begin, t("error.begin"), "button plain");
  const inItsFlow = { ...page, flow: flowId };
  return code === "FORM_REFUSED"
    ? link(inItsFlow, paths.begin, t("common.continue"), "button plain")
    : link(inItsFlow, paths.loginName, t("common.otherWay"), "button plain");
}
