import { randomUUID } from "node:crypto";
import { userAgent } from "../support/user-agent.ts";
import { ask } from "./call.ts";
import { type Entry, outcomeOf } from "./client-log.ts";

const password = "correct horse battery staple";
const redirectUri = "https://rp.test/callback";

/** A browser in which somebody has logged in, and the client that gets codes by it. */
type LoggedIn = { clientId: string; secret: string; cookie: string };

const anyOf = (urls: readonly string[]): string =>
  urls[Math.floor(Math.random() * urls.length)] ?? "";

/**
 * Redeems authorization codes: each twice at once, at whichever replica, and some once more later, where an answer was lost or not. Of
 * all that, one may succeed (rule 7).
 */
export function createCodes(token: string, note: (entry: Entry) => void) {
  let setUp: Promise<LoggedIn> | undefined;
  const codes: string[] = [];

  async function redeem(url: string, { clientId, secret }: LoggedIn, nth: number): Promise<void> {
    const form = { grant_type: "authorization_code", redirect_uri: redirectUri };
    const basic = Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString("base64");
    const entry = { op: "redeem", mark: `code-${nth}`, id: "", sequence: 0n } as const;
    try {
      const answer = await fetch(`${url}/oauth/v2/token`, {
        method: "POST",
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ ...form, code: codes[nth] ?? "" }),
      });
      const { status } = answer;
      const { error = "", error_description: text = "" } = Object(await answer.json());
      note({
        ...entry,
        status,
        reason: String(error),
        text: String(text),
        outcome: outcomeOf(status),
      });
    } catch {
      note({ ...entry, status: 0, reason: "", text: "", outcome: "unknown" });
    }
  }

  return {
    /** @throws when the set-up breaks: then it is tried again the next time */
    async step(urls: readonly string[]): Promise<void> {
      const own = (setUp ??= logIn(anyOf(urls), token));
      const loggedIn = await own.catch((error: unknown) => {
        setUp = undefined;
        throw error;
      });
      const code = await newCode(anyOf(urls), loggedIn);
      if (code === undefined) return;
      const nth = codes.push(code) - 1;
      const earlier = Math.floor(Math.random() * codes.length);
      await Promise.all([nth, nth, earlier].map((each) => redeem(anyOf(urls), loggedIn, each)));
    },
  };
}

export type Codes = ReturnType<typeof createCodes>;

async function newCode(url: string, { clientId, cookie }: LoggedIn): Promise<string | undefined> {
  const asked = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    prompt: "none",
  });
  const options = { headers: { cookie }, redirect: "manual" } as const;
  const answer = await fetch(`${url}/oauth/v2/authorize?${asked}`, options);
  await answer.text();
  const to = URL.parse(answer.headers.get("location") ?? "");
  return to?.searchParams.get("code") ?? undefined;
}

/** Makes a person and an app, and logs in by the pages as a browser does. */
async function logIn(url: string, token: string): Promise<LoggedIn> {
  const make = async (path: string, body: object) => {
    const { status, json } = await ask(url, token, { method: "POST", path, body });
    if (status !== 201) throw new Error(`${path} was answered ${status}`);
    return json;
  };
  const username = `redeemer-${randomUUID()}`;
  const data = { given_name: "Ada", family_name: "King" };
  const { details } = await make("/users", {
    username,
    data,
    authenticators: { password: { password } },
  });
  const project = await make("/projects", { name: username });
  const app = await make("/apps", {
    name: username,
    project_id: project.details.id,
    oidc: {
      redirect_uris: [redirectUri],
      response_types: ["OIDC_RESPONSE_TYPE_CODE"],
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
      app_type: "OIDC_APP_TYPE_WEB",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
    },
  });
  const clientId = String(app.client_id);
  const { json } = await ask(url, token, { method: "GET", path: `/users/${details.id}` });
  const [loginName = username] = json.user?.user?.login_names ?? [];
  const discovery = await (await fetch(`${url}/.well-known/openid-configuration`)).json();
  const origin = { origin: String(Object(discovery).issuer) };
  const agent = userAgent(url);
  const first = { client_id: clientId, redirect_uri: redirectUri, response_type: "code" };
  await agent.open(`/oauth/v2/authorize?${new URLSearchParams({ ...first, scope: "openid" })}`);
  await agent.submit({ login_name: String(loginName) }, origin);
  await agent.submit({ password }, origin);
  const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { clientId, secret: String(app.client_secret), cookie };
}
