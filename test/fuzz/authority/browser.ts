import { formOf } from "../../support/user-agent.ts";
import type { RawAnswer } from "../../support/wire.ts";
import type { Service } from "./service.ts";

/** What a browser shows: the last page, or where it was sent outside of the service. */
export type Page = {
  path: string;
  query: URLSearchParams;
  status: number;
  html: string;
  left: URL | undefined;
};

export type Browser = {
  readonly origin: string;
  readonly cookies: Map<string, string>;
  open(target: string): Promise<Page>;
  /** Sends the first form of a page, or the one with this in its tag, with these values beside its hidden ones; undefined where it has none. */
  submit(page: Page, values: Record<string, string>, tag?: string): Promise<Page | undefined>;
};

const mostHops = 10;

/** A browser without a screen of which only the host that it asks for is real. */
export function browserOf(
  service: Pick<Service, "send">,
  host: string,
  cookies = new Map<string, string>(),
): Browser {
  const origin = `http://${host}`;

  async function ask(target: URL, form?: URLSearchParams): Promise<RawAnswer> {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      host,
      ...(sent === "" ? {} : { cookie: sent }),
      ...(form === undefined
        ? {}
        : {
            origin,
            "sec-fetch-site": "same-origin",
            "content-type": "application/x-www-form-urlencoded",
          }),
    };
    const body = form === undefined ? {} : { body: form.toString() };
    const method = form === undefined ? "GET" : "POST";
    return service.send({ method, path: `${target.pathname}${target.search}`, headers, ...body });
  }

  function keep({ headers }: RawAnswer): void {
    // Several cookies come as one text; none of ours has a comma before a name.
    for (const cookie of (headers["set-cookie"] ?? "").split(/,(?=[^;,]+=)/)) {
      const [, name = "", value = ""] = /^\s*([^=\s]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== "") cookies.set(name, value);
    }
  }

  async function follow(target: URL, form?: URLSearchParams): Promise<Page> {
    let url = target;
    let next = form;
    for (let hop = 0; hop < mostHops; hop++) {
      const answer = await ask(url, next);
      keep(answer);
      const { status, headers, body } = answer;
      const page = { path: url.pathname, query: url.searchParams, status, left: undefined };
      const to = headers["location"] ?? headers["refresh"]?.replace(/^0; url=/, "");
      const isSent = headers["refresh"] !== undefined || (status > 299 && status < 400);
      if (!isSent || to === undefined) return { ...page, html: body.toString("utf8") };
      const leads = URL.parse(to, url);
      if (leads === null) return { ...page, html: "" };
      if (leads.origin !== origin) return { ...page, html: "", left: leads };
      url = leads;
      next = undefined;
    }
    return { path: url.pathname, query: url.searchParams, status: 508, html: "", left: undefined };
  }

  return {
    origin,
    cookies,
    async open(target) {
      const url = URL.parse(target, origin);
      const nowhere = { path: "", query: new URLSearchParams(), status: 400, html: "" };
      if (url === null) return { ...nowhere, left: undefined };
      if (url.origin !== origin) return { ...nowhere, left: url };
      return follow(url);
    },
    async submit(page, values, tag = "") {
      const forms = page.html.split(/(?=<form method="post")/).slice(1);
      const form = forms.find((each) => each.slice(0, each.indexOf(">")).includes(tag));
      if (form === undefined) return undefined;
      const { action, fields } = formOf(form);
      return follow(new URL(action, origin), new URLSearchParams({ ...fields, ...values }));
    },
  };
}
