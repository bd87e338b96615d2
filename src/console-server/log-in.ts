import { createHash, randomBytes } from "node:crypto";
import { consoleCallback, consoleClientId, consoleSecret } from "../authz/console-client.ts";
import { invalidArgument, permissionDenied } from "../errors.ts";
import { authorizePath } from "../oidc/core/authorize/index.ts";
import { endSessionPath } from "../oidc/core/end-session.ts";
import { revocationPath, tokenPath } from "../oidc/core/paths.ts";
import { idpScope, organizationScope } from "../oidc/core/scope.ts";
import type { Deps } from "../projection/module.ts";
import { loginCookie, sessionCookie } from "./cookies.ts";
import { consolePath, loginPath, logoutPath } from "./paths.ts";
import { type ConsoleSessions, isOfConsole, isTls } from "./sessions.ts";

/** What the console reads of a request and answers; the shapes of the port that serves it. */
export type ConsoleRequest = {
  method: string;
  url: string;
  headers: { get(name: string): string | null; count(name: string): number };
  text(): Promise<string>;
};
export type ConsoleAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
  cookies?: string[];
};
type At = { instanceId: string; issuer: string };

/** Endpoints of the provider, as clients call them. */
export type AskProvider<A extends At> = (
  path: string,
  request: ConsoleRequest,
  at: A,
) => Promise<{ status: number; body: string | Uint8Array }>;

export type ConsoleEndpoint<A extends At> = {
  path: string;
  methods: readonly ("GET" | "POST")[];
  crossOrigin: "none";
  budget?: "flows";
  handle: (request: ConsoleRequest, at: A) => Promise<ConsoleAnswer>;
};

/** What the token endpoint answers. */
type Tokens = { access_token: string; id_token: string; expires_in: number };

/** What a log-in began with. */
type Begun = { verifier: string; to: string; until: number };

const longestLoginMs = 30 * 60_000;
const purpose = "console log-in";
// To read who somebody is, and to call the service's own APIs.
const scope = "openid urn:idsvc:iam:org:project:id:idsvc:aud";
const noStore = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
const redirect = (location: string, cookies: string[]): ConsoleAnswer => ({
  status: 303,
  headers: { location, ...noStore },
  body: "",
  cookies,
});

/**
 * The log-in of the console: the service as its own client, by the code flow with PKCE (RFC 9700 section 2.1.1). The tokens
 * stay with the service.
 */
export function consoleLogIn<A extends At>(
  { secrets, now }: Pick<Deps, "secrets" | "now">,
  sessions: ConsoleSessions,
  ask: AskProvider<A>,
): ConsoleEndpoint<A>[] {
  const asClient = clientOf(secrets, ask);

  async function begin(request: ConsoleRequest, at: A): Promise<ConsoleAnswer> {
    const asked = new URL(request.url).searchParams;
    const state = randomBytes(16).toString("base64url");
    const verifier = randomBytes(32).toString("base64url");
    const until = now().getTime() + longestLoginMs;
    const begun: Begun = { verifier, to: pageOf(asked.get("to")), until };
    const sealed = await secrets.sealText(
      at.instanceId,
      `${purpose} ${state}`,
      Buffer.from(JSON.stringify(begun)),
    );
    const acr = asked.get("acr_values") ?? "";
    const parameters = new URLSearchParams({
      client_id: consoleClientId,
      response_type: "code",
      state,
      // A provider that is named is asked at once, so that its log-in can be tested, and that of an organization in the organization.
      scope: [
        scope,
        ...named(idpScope, asked.get("idp")),
        ...named(organizationScope, asked.get("org")),
      ].join(" "),
      redirect_uri: `${at.issuer}${consoleCallback}`,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      // More can be demanded of the log-in, never less.
      ...(acr === "" ? {} : { acr_values: acr.slice(0, 500), max_age: "0" }),
    });
    return redirect(`${at.issuer}${authorizePath}?${parameters}`, [
      loginCookie(state).set(sealed, isTls(at), longestLoginMs / 1000),
    ]);
  }

  async function finish(request: ConsoleRequest, at: A): Promise<ConsoleAnswer> {
    const answer = new URL(request.url).searchParams;
    const state = answer.get("state") ?? "";
    const cookie = /^[\w-]{22}$/.test(state) ? loginCookie(state) : undefined;
    const sealed = cookie?.read(request.headers.get("cookie") ?? "", isTls(at));
    const clear =
      sealed === undefined
        ? undefined
        : await secrets.openText(at.instanceId, `${purpose} ${state}`, sealed);
    // What is sealed was written by `begin`.
    const begun = clear && (JSON.parse(Buffer.from(clear).toString()) as Begun);
    if (cookie === undefined || begun === undefined || begun.until <= now().getTime()) {
      throw logInUnknown();
    }
    const code = answer.get("code");
    if (code === null) throw logInRefused(answer.get("error") ?? "");
    const { status, body } = await asClient(
      tokenPath,
      {
        grant_type: "authorization_code",
        code,
        code_verifier: begun.verifier,
        redirect_uri: `${at.issuer}${consoleCallback}`,
      },
      at,
    );
    if (status !== 200) throw logInUnknown();
    // It is our own token endpoint that answers.
    const tokens = JSON.parse(body) as Tokens;
    const tokensOfSession = { access: tokens.access_token, id: tokens.id_token };
    const session = await sessions.open(at, tokensOfSession, tokens.expires_in * 1000);
    return redirect(begun.to, [session, cookie.clear(isTls(at))]);
  }

  const common = { crossOrigin: "none" } as const;
  return [
    { path: loginPath, methods: ["GET"], ...common, budget: "flows", handle: begin },
    { path: consoleCallback, methods: ["GET"], ...common, budget: "flows", handle: finish },
    { path: logoutPath, methods: ["POST"], ...common, handle: leaving(sessions, asClient) },
  ];
}

/** A word of the scope with the ID that was asked for, where it is one. */
const named = (prefix: string, id: string | null): string[] =>
  id !== null && /^[\w.@+:|-]{1,200}$/.test(id) ? [`${prefix}${id}`] : [];

type AsClient<A extends At> = (
  path: string,
  form: Record<string, string>,
  at: A,
) => Promise<{ status: number; body: string }>;

/** Asks the provider as the client that the console is. */
function clientOf<A extends At>(
  secrets: Pick<Deps["secrets"], "digest">,
  ask: AskProvider<A>,
): AsClient<A> {
  return async (path, form, at) => {
    const secret = await consoleSecret(secrets, at.instanceId);
    const proof = [consoleClientId, secret].map(encodeURIComponent).join(":");
    const headers = new Map([
      ["content-type", "application/x-www-form-urlencoded"],
      ["authorization", `Basic ${Buffer.from(proof).toString("base64")}`],
    ]);
    const request: ConsoleRequest = {
      method: "POST",
      url: `${at.issuer}${path}`,
      headers: {
        get: (name) => headers.get(name.toLowerCase()) ?? null,
        count: (name) => (headers.has(name.toLowerCase()) ? 1 : 0),
      },
      text: async () => new URLSearchParams(form).toString(),
    };
    const answer = await ask(path, request, at);
    return { status: answer.status, body: Buffer.from(answer.body).toString() };
  };
}

/**
 * Ends the session here, and its token. The browser is told where it ends the log-in of the person, and with it what other apps
 * hold of it.
 */
const leaving =
  <A extends At>(sessions: ConsoleSessions, asClient: AsClient<A>) =>
  async (request: ConsoleRequest, at: A): Promise<ConsoleAnswer> => {
    if (!isOfConsole({ ...at, headers: request.headers })) throw notOfConsole();
    const tokens = await sessions.end({ ...at, headers: request.headers });
    if (tokens !== undefined) await asClient(revocationPath, { token: tokens.access }, at);
    const hint = tokens === undefined ? {} : { id_token_hint: tokens.id };
    return {
      status: 200,
      headers: { "content-type": "application/json", ...noStore },
      body: JSON.stringify({ to: `${endSessionPath}?${new URLSearchParams(hint)}` }),
      cookies: [sessionCookie.clear(isTls(at))],
    };
  };

/** A page of the console: log-ins lead nowhere else. */
function pageOf(to: string | null): string {
  const url = URL.parse(to ?? consolePath, "http://console.invalid");
  const isOurs =
    url?.origin === "http://console.invalid" &&
    (url.pathname === consolePath || url.pathname.startsWith(`${consolePath}/`)) &&
    (to ?? "").length <= 2_000;
  return isOurs ? `${url.pathname}${url.search}` : consolePath;
}

const logInUnknown = () =>
  invalidArgument(
    "CONSOLE_LOGIN_UNKNOWN",
    "the log-in was not begun in this browser, or took too long: open the console once more",
  );
const logInRefused = (error: string) =>
  permissionDenied("CONSOLE_LOGIN_REFUSED", "the log-in to the console was refused", {
    metadata: { error: /^[a-z_]{1,50}$/.test(error) ? error : "" },
  });
const notOfConsole = () =>
  permissionDenied("CONSOLE_HEADER_MISSING", "only pages of the console may do this");
