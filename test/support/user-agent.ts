import assert from "node:assert/strict";
import { notePage } from "./pages-seen.ts";

/** What a browser shows after a request: the last answer, where it came from, and its form. */
export type Shown = {
  url: URL;
  status: number;
  headers: Headers;
  html: string;
  /** The request was answered by a redirect. */
  isRedirected: boolean;
  /** Where it was sent outside of the service, if it was; nothing is fetched there. */
  left: URL | undefined;
};

/** A browser without a screen: it keeps cookies, follows redirects within the service, and sends forms. */
export type UserAgent = {
  readonly cookies: Map<string, string>;
  readonly last: Shown;
  open(url: string | URL, init?: RequestInit): Promise<Shown>;
  /** Sends the first form of the page with these values beside its hidden ones. */
  submit(values: Record<string, string>, headers?: Record<string, string>): Promise<Shown>;
};

const mostHops = 10;
const hiddenInputs = /<input type="hidden" name="([^"]*)" value="([^"]*)"/g;

/** @param always headers of every request, such as those of a proxy */
export function userAgent(
  issuer: string,
  cookies = new Map<string, string>(),
  always: Record<string, string> = {},
): UserAgent {
  let last: Shown | undefined;

  async function open(target: string | URL, init: RequestInit = {}): Promise<Shown> {
    let url = new URL(target, last?.url ?? issuer);
    let next: RequestInit = init;
    for (let hop = 0; hop < mostHops; hop += 1) {
      const headers = new Headers({ ...always, ...Object.fromEntries(new Headers(next.headers)) });
      const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      if (sent !== "" && !headers.has("cookie")) headers.set("cookie", sent);
      const got = await fetch(url, { ...next, headers, redirect: "manual" });
      const html = await got.text();
      notePage(url.pathname, html);
      for (const cookie of got.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      const { status } = got;
      const answer = { url, status, headers: got.headers, html };
      const location = got.headers.get("location");
      if (location === null || status < 300 || status > 399) {
        return (last = { ...answer, isRedirected: hop > 0, left: undefined });
      }
      const to = new URL(location, url);
      if (to.origin !== issuer) {
        return (last = { ...answer, isRedirected: true, left: to });
      }
      url = to;
      next = {};
    }
    throw new Error(`more than ${mostHops} redirects`);
  }

  return {
    cookies,
    open,
    get last() {
      assert.ok(last !== undefined, "no page was opened");
      return last;
    },
    async submit(values, headers = {}) {
      assert.ok(last !== undefined, "no page was opened");
      const { action, fields } = formOf(last.html);
      const body = new URLSearchParams({ ...fields, ...values });
      const origin = { origin: issuer, "sec-fetch-site": "same-origin" };
      return open(action, { method: "POST", body, headers: { ...origin, ...headers } });
    },
  };
}

/** The first form of a page that is posted: where it is sent, and its hidden fields. */
export function formOf(html: string): { action: string; fields: Record<string, string> } {
  const form = /<form method="post"[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(html);
  assert.ok(form !== null, `the page has no form: ${html.slice(0, 2_000)}`);
  const [, action = "", content = ""] = form;
  const hidden = [...content.matchAll(hiddenInputs)];
  return {
    action: unescape(action),
    fields: Object.fromEntries(hidden.map(([, name, value = ""]) => [name, unescape(value)])),
  };
}

/** Where the button of a language on a page leads. */
export function inLanguage({ html, url }: Shown, language: string): URL {
  const chooser =
    /<form method="get" action="([^"]*)">((?:(?!<\/form>)[^])*name="ui_locales"[^]*?)<\/form>/;
  const [, action = "", content = ""] = chooser.exec(html) ?? [];
  assert.ok(content.includes(`value="${language}"`), `the page is not offered in ${language}`);
  const to = new URL(unescape(action), url);
  for (const [, name = "", value = ""] of content.matchAll(hiddenInputs)) {
    to.searchParams.set(name, unescape(value));
  }
  to.searchParams.set("ui_locales", language);
  return to;
}

/** The code of the error page, for programs. */
export const errorOf = ({ html }: Shown): string | undefined =>
  /<main[^>]*data-error="([^"]*)"/.exec(html)?.[1];

/** What the client was told: parameters of the query or of the fragment. */
export function answerOf({ left, html, status }: Shown): URLSearchParams {
  assert.ok(
    left !== undefined,
    `the browser was not sent back (${status}): ${html.slice(0, 1_500)}`,
  );
  return left.hash === "" ? left.searchParams : new URLSearchParams(left.hash.slice(1));
}

const unescape = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
