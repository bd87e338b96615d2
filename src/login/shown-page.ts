import { randomBytes } from "node:crypto";
import { chooseLanguage } from "../texts/languages.ts";
import { texts } from "../texts/texts.ts";
import { type Agent, csrfTokenOf, languageCookie, readCookie } from "./agents.ts";
import type { Flow, FlowData } from "./flow.ts";
import { pageHeaders } from "./headers.ts";
import type { Page } from "./page.ts";
import type { Shown } from "./page-context.ts";
import type { LoginPorts, Tenant } from "./ports.ts";
import type { Returned } from "./returned.ts";
import type { LoginRequest } from "./web.ts";

/** Chooses the language of a page among those of the tenant. */
export async function languageFor(
  parts: LoginPorts,
  tenant: Tenant,
  { headers }: LoginRequest,
  wished: string | undefined,
  flow: FlowData | undefined,
) {
  const offered = await parts.languagesOf(tenant);
  const language = chooseLanguage({
    uiLocales: wished ?? flow?.language ?? flow?.request?.uiLocales.join(" "),
    cookie: readCookie(headers.get("cookie") ?? "", languageCookie),
    acceptLanguage: headers.get("accept-language") ?? undefined,
    allowed: offered.allowed,
    default: offered.default,
  });
  return { language, allowed: offered.allowed };
}

/** What a form that was sent has to tell by the page that it leads back to. */
export const toldBy = (returned: Returned | undefined): Pick<Shown, "problems" | "notice"> => ({
  ...(returned?.problems === undefined ? {} : { problems: returned.problems }),
  ...(returned?.notice === undefined ? {} : { notice: returned.notice }),
});

type Seen = {
  isTls: boolean;
  path: string;
  tenant: Tenant;
  agent: Agent;
  flow: Flow | undefined;
} & Pick<Page, "language" | "languages">;

/** What every page is made of, and the headers that hold it to what it is for. */
export async function pageWith(parts: LoginPorts, seen: Seen, shown: Shown) {
  const { isTls, language, languages, agent, flow } = seen;
  const tenant = shown.tenant ?? seen.tenant;
  const nonce = randomBytes(16).toString("base64url");
  const { problems, notice, self } = shown;
  const page: Page = {
    language,
    languages,
    t: texts(language, await parts.textsOf(tenant, language)),
    nonce,
    branding: await parts.brandingOf(tenant),
    csrf: csrfTokenOf(agent),
    ...(flow === undefined ? {} : { flow: flow.address }),
    ...(self === undefined ? {} : { self }),
    ...(notice === undefined ? {} : { notice }),
    ...(problems === undefined ? {} : { problems }),
    ...cancelOf(flow),
  };
  const waiting = [flow?.data.request?.redirectUri, flow?.data.logout?.redirectUri];
  const headers = pageHeaders({
    nonce,
    isTls,
    formTargets: [...waiting.filter((uri) => uri !== undefined), ...(shown.formTargets ?? [])],
    frameOrigins: shown.isUnframed === true ? [] : await parts.frameOriginsOf(tenant),
    hasForms: shown.hasForms ?? true,
  });
  const tellTextsLeftOut = () => parts.tellTextsLeftOut(tenant, { path: seen.path, language });
  return { page, headers, tellTextsLeftOut };
}

/** What no page of the login or of an account is larger than. */
const mostBytes = 30 * 1024;

const isTooLarge = (body: string): boolean => Buffer.byteLength(body) > mostBytes;

/** A page as it is drawn; with the shipped texts where those that are set would make it too large, which is reported. */
export function drawn(
  page: Page,
  render: (page: Page) => string,
  tellTextsLeftOut: () => void,
): string {
  const body = render(page);
  if (!isTooLarge(body)) return body;
  const plain = render({ ...page, t: texts(page.language) });
  if (plain.length < body.length) tellTextsLeftOut();
  return plain;
}

/** A page of a flow; where it would be too large, the flow gets a short address, as a long one stands in each form. */
export async function drawnIn(
  flows: { flow: Flow | undefined; shorten(): Promise<void> },
  page: Page,
  render: (page: Page) => string,
  tellTextsLeftOut: () => void,
): Promise<string> {
  const body = render(page);
  if (!isTooLarge(body)) return body;
  await flows.shorten();
  const short = flows.flow === undefined ? page : { ...page, flow: flows.flow.address };
  return drawn(short, render, tellTextsLeftOut);
}

/** Whoever proves themselves anew for a change to their account may let it be. */
function cancelOf(flow: Flow | undefined): Pick<Page, "cancel"> {
  const { returnTo, stepUp, freshSince, sessionId } = flow?.data ?? {};
  const isAnew = sessionId !== undefined && (stepUp !== undefined || freshSince !== undefined);
  return returnTo !== undefined && isAnew ? { cancel: returnTo } : {};
}
