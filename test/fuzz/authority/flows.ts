import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Authenticator } from "../../support/authenticator.ts";
import type { Browser, Page } from "./browser.ts";
import type { Service } from "./service.ts";
import { totpOf } from "./totp.ts";
import type { World } from "./world.ts";

const endpoints = {
  authorize: "/oauth/v2/authorize",
  token: "/oauth/v2/token",
  device: "/oauth/v2/device_authorization",
};

/** What somebody says on the pages of a log-in. */
export type Typed = {
  loginName?: string | undefined;
  password?: string | undefined;
  totp?: string | undefined;
  passkey?: Authenticator | undefined;
  /** How far an app may act for them, of what the page offers; the least where it does not. */
  choice?: string | undefined;
  /** Logs in with this provider, whose answer is fetched by whoever is at the browser. */
  idp?: string | undefined;
  visit?: ((at: URL) => Promise<URL | undefined>) | undefined;
};

/** How a walk through the pages ended. */
export type Walk = {
  page: Page;
  /** What the page of consent offered, where one was shown. */
  asked: readonly string[] | undefined;
  /** What was allowed on it. */
  chosen: string | undefined;
};

export type Asked = {
  clientId: string;
  redirectUri: string;
  scope: string;
  responseType?: string | undefined;
  prompt?: string | undefined;
};

export const authorizeUrl = ({ clientId, redirectUri, scope, ...more }: Asked): string => {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    response_type: more.responseType ?? "code",
    state: "s",
    ...(more.prompt === undefined ? {} : { prompt: more.prompt }),
    // RFC 7636, appendix B: every client may prove itself so.
    code_challenge: challenge,
    code_challenge_method: "S256",
    nonce: "n",
  });
  return `${endpoints.authorize}?${query}`;
};
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const mostPages = 9;

/** Goes from page to page and says on each what it asks for, until the browser leaves or nothing is left to be said. */
export async function walk(
  service: Pick<Service, "now">,
  browser: Browser,
  start: Page,
  typed: Typed,
): Promise<Walk> {
  let page = start;
  let asked: readonly string[] | undefined;
  let chosen: string | undefined;
  const seen = new Set<string>();
  for (let pages = 0; pages < mostPages && page.left === undefined; pages++) {
    if (seen.has(page.path)) break;
    seen.add(page.path);
    if (page.path === "/ui/login/consent" || page.path === "/ui/login/device/confirm") {
      asked = [...page.html.matchAll(/name="access" value="([a-z]+)"/g)].map(([, one = ""]) => one);
      chosen = asked.find((one) => one === typed.choice) ?? "own";
    }
    const next = await answer(service, browser, page, typed, chosen);
    if (next === undefined) break;
    page = next;
  }
  return { page, asked, chosen };
}

async function answer(
  service: Pick<Service, "now">,
  browser: Browser,
  page: Page,
  typed: Typed,
  chosen: string | undefined,
): Promise<Page | undefined> {
  const { loginName, password, totp, idp } = typed;
  switch (page.path) {
    case "/ui/login/loginname": {
      if (idp !== undefined) return throughProvider(browser, page, typed);
      if (typed.passkey !== undefined) return showPasskey(browser, page, typed.passkey);
      return loginName === undefined ? undefined : browser.submit(page, { login_name: loginName });
    }
    case "/ui/login/password":
      if (idp !== undefined) return throughProvider(browser, page, typed);
      return password === undefined ? undefined : browser.submit(page, { password });
    case "/ui/login/passkey":
      return typed.passkey === undefined ? undefined : showPasskey(browser, page, typed.passkey);
    case "/ui/login/mfa": {
      const factor = typed.passkey === undefined ? "totp" : "passkey";
      return browser.submit(page, { factor });
    }
    case "/ui/login/mfa/totp":
      return totp === undefined
        ? undefined
        : browser.submit(page, { code: totpOf(totp, service.now()) });
    case "/ui/login/consent":
    case "/ui/login/device/confirm":
      return browser.submit(page, { consent: "allow", access: chosen ?? "own" });
    case "/ui/login/password/change":
      return password === undefined
        ? undefined
        : browser.submit(page, {
            current_password: password,
            password,
            new_password: `${password}!`,
            new_password_repeated: `${password}!`,
            repeated: `${password}!`,
          });
    default:
      return undefined;
  }
}

/** What a script of the page does with the options that stand at its form. */
async function showPasskey(
  browser: Browser,
  page: Page,
  passkey: Authenticator,
): Promise<Page | undefined> {
  const [, options] = /data-options="([^"]*)"/.exec(page.html) ?? [];
  if (options === undefined) return undefined;
  const asked = JSON.parse(
    options.replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  ) as JsonObject;
  const { hostname } = new URL(browser.origin);
  const credential = passkey.get(asked, { page: { origin: `https://${hostname}` } });
  return browser.submit(page, { credential: JSON.stringify(credential) }, "data-passkey");
}

async function throughProvider(
  browser: Browser,
  page: Page,
  { idp = "", visit }: Typed,
): Promise<Page | undefined> {
  const flow = page.query.get("flow") ?? "";
  const leaving = await browser.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
  if (leaving.left === undefined || visit === undefined) return leaving;
  const back = await visit(leaving.left);
  return back === undefined ? undefined : browser.open(back.href);
}

/** What a browser was sent back to an app with: parameters of the query or of the fragment. */
export function answerIn({ left }: Page): Record<string, string> {
  if (left === undefined) return {};
  const told = left.hash === "" ? left.searchParams : new URLSearchParams(left.hash.slice(1));
  return Object.fromEntries(told);
}

type Client = { clientId: string; secret?: string | undefined };

const headersOf = (host: string, { clientId, secret }: Client): Record<string, string> => {
  const encode = (text: string) => encodeURIComponent(text).replaceAll("%20", "+");
  const proof =
    secret === undefined
      ? {}
      : {
          authorization: `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}`,
        };
  return { host, "content-type": "application/x-www-form-urlencoded", ...proof };
};

/** Posts a form as a client does. */
export async function post(
  { service, host }: Pick<World, "service" | "host">,
  path: string,
  form: Record<string, string>,
  client: Client,
): Promise<{ status: number; json: JsonValue }> {
  const own = client.secret === undefined ? { client_id: client.clientId } : {};
  const body = new URLSearchParams({ ...own, ...form }).toString();
  return service.send({ path, headers: headersOf(host, client), body });
}

export const askToken = (
  world: Pick<World, "service" | "host">,
  form: Record<string, string>,
  client: Client,
) => post(world, endpoints.token, form, client);

export const redeem = (
  world: Pick<World, "service" | "host">,
  { code, redirectUri }: { code: string; redirectUri: string },
  client: Client,
) => {
  const grant = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  return askToken(world, { ...grant, code_verifier: verifier }, client);
};

export const askDevice = (world: Pick<World, "service" | "host">, scope: string, client: Client) =>
  post(world, endpoints.device, { scope }, client);
