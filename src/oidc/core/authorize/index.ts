import type { Endpoint } from "../endpoint.ts";
import { invalidRequest, OAuthError, describe } from "../errors.ts";
import { readFormBody } from "../form.ts";
import {
  type Note,
  noStore,
  type OidcAnswer,
  type OidcRequest,
  redirect,
  targetOf,
} from "../http.ts";
import type {
  At,
  AuthorizationRequest,
  BrowserSession,
  Client,
  Missing,
  Ports,
  User,
} from "../ports.ts";
import { requireAcr } from "./acr.ts";
import { chooseSession } from "./choose-session.ts";
import { AuthorizationRefused, refuse } from "./refusal.ts";
import { readAuthorizationRequest } from "./request.ts";
import { type Destination, errorFields, type Fields, respond } from "./respond.ts";

type ToClient = (destination: Destination, client: Pick<Client, "clientId">) => void;

/** What makes the answer of a request, once its user is known. */
export type Authorize = (
  at: At,
  asked: { request: AuthorizationRequest; client: Client; session: BrowserSession },
) => Promise<Fields>;

export const authorizePath = "/oauth/v2/authorize";
export const callbackPath = "/oauth/v2/authorize/callback";

const withoutInteraction: Readonly<
  Record<Missing, "login_required" | "interaction_required" | "consent_required">
> = {
  login: "login_required",
  consent: "consent_required",
  select_account: "interaction_required",
  create: "interaction_required",
};

/**
 * The authorization endpoint (specification 4.3.1; OpenID Connect Core 1.0 sections 3.1.2 and 3.2.2), and where the login
 * comes back to it.
 */
export function authorizeEndpoints(ports: Ports, authorize: Authorize): Endpoint[] {
  const { clients, users, browsers, interactions, now } = ports;

  /** Whatever goes wrong is told: to the client once it is proven, on a page of our own before. */
  async function answering(
    at: At,
    request: OidcRequest,
    work: (toClient: ToClient, note: (reason: string) => void) => Promise<OidcAnswer>,
  ): Promise<OidcAnswer> {
    let destination: Destination | undefined;
    let clientId: string | undefined;
    const noted: string[] = [];
    const noteOf = (error?: string, reason?: string): Note => ({
      ...{ clientId, error },
      reason: [...(reason === undefined ? [] : [reason]), ...noted].join("; "),
    });
    try {
      const answer = await work(
        (known, client) => {
          destination = known;
          ({ clientId } = client);
        },
        (reason) => void noted.push(reason),
      );
      return noted.length === 0 ? answer : { ...answer, note: noteOf() };
    } catch (error) {
      if (error instanceof AuthorizationRefused && destination !== undefined) {
        const answer = await respond(interactions, at, destination, errorFields(error), request);
        return { ...answer, note: noteOf(error.code, error.message) };
      }
      if (!(error instanceof OAuthError)) {
        if (destination === undefined) throw error;
        // The client hears that it was not its fault; what it was is for the log.
        const failed = refuse("server_error", "the request could not be answered: try again");
        const answer = await respond(interactions, at, destination, errorFields(failed), request);
        return { ...answer, cause: error };
      }
      const { code, message, status, about } = error;
      const problem = { code, description: describe(message), status, about };
      const page = await interactions.errorPage(at, problem, request.headers);
      const note = noteOf(code, message);
      return { status, ...page, headers: { ...noStore, ...page.headers }, note };
    }
  }

  /** Answers with the session of the browser, or leads the user to what is missing. */
  async function proceed(
    at: At,
    http: OidcRequest,
    asked: { request: AuthorizationRequest; client: Client; keptAs: string | undefined },
  ): Promise<OidcAnswer> {
    const { request, client } = asked;
    const cookies = http.headers.get("cookie") ?? "";
    const sessions = await browsers.sessionsOf(at, cookies);
    const fits = await fitting(at, request);
    const choice = chooseSession(request, sessions, ({ user }) => fits(user), now());
    const session = "session" in choice ? choice.session : undefined;
    const missing =
      session === undefined
        ? choiceMissing(choice)
        : await interactions.missing(at, request, session);
    if (session !== undefined && missing === undefined) {
      if (asked.keptAs !== undefined && !(await interactions.take(at, asked.keptAs))) throw gone();
      return finish(at, http, { request, client, session });
    }
    if (request.prompt.includes("none")) {
      throw refuse(withoutInteraction[missing ?? "login"], "the user would have to be asked");
    }
    const id = asked.keptAs ?? (await interactions.keep(at, request));
    const { location, cookies: set } = await interactions.begin(
      at,
      id,
      missing ?? "login",
      cookies,
    );
    return redirect(location, set);
  }

  async function fitting(
    at: At,
    { organization }: AuthorizationRequest,
  ): Promise<(user: User) => boolean> {
    if (organization === undefined) return () => true;
    const found = await users.organizationBy(at, organization);
    return (user) => user.organizationId === found?.id;
  }

  async function finish(
    at: At,
    http: OidcRequest,
    asked: { request: AuthorizationRequest; client: Client; session: BrowserSession },
  ): Promise<OidcAnswer> {
    const { request, client, session } = asked;
    requireAcr(request, session);
    if (!(await users.mayUse(at, session.user, client.projectId))) {
      throw refuse("access_denied", "the user may not use this application");
    }
    return respond(interactions, at, request, await authorize(at, asked), http);
  }

  async function readRequest(request: OidcRequest): Promise<string[]> {
    const { query } = targetOf(request);
    return request.method === "POST" ? [query, await readFormBody(request)] : [query];
  }

  return [
    {
      metadata: "authorization_endpoint",
      path: authorizePath,
      methods: ["GET", "POST"],
      budget: "flows",
      caller: "browser",
      crossOrigin: "none",
      handle: (http, at) =>
        answering(at, http, async (toClient, note) => {
          const encoded = await readRequest(http);
          const asked = await readAuthorizationRequest(ports, at, encoded, toClient, note);
          if (http.method !== "POST") return proceed(at, http, { ...asked, keptAs: undefined });
          // Cookies do not come with a post from another site; with our own redirect they do.
          const id = await interactions.keep(at, asked.request);
          return redirect(`${callbackPath}?id=${encodeURIComponent(id)}`);
        }),
    },
    {
      metadata: "",
      path: callbackPath,
      methods: ["GET"],
      caller: "browser",
      crossOrigin: "none",
      handle: (http, at) =>
        answering(at, http, async (toClient) => {
          const id = new URLSearchParams(targetOf(http).query).get("id") ?? "";
          const cookies = http.headers.get("cookie") ?? "";
          const pending = await interactions.load(at, id, cookies);
          const client = pending && (await clients.byId(at, pending.request.clientId));
          if (pending === undefined || client === undefined) throw gone();
          const { request, outcome } = pending;
          // The application may have changed while the user was busy.
          if (!client.redirectUris.includes(request.redirectUri)) throw gone();
          toClient(request, client);
          if (outcome === undefined) return proceed(at, http, { request, client, keptAs: id });
          if (!(await interactions.take(at, id))) throw gone();
          if (outcome === "denied") throw refuse("access_denied", "the user declined");
          return finish(at, http, { request, client, session: outcome.session });
        }),
    },
  ];
}

const choiceMissing = (choice: ReturnType<typeof chooseSession>): Missing =>
  "missing" in choice ? choice.missing : "login";

const gone = () =>
  invalidRequest("this login has ended, or began in another browser: go back to the application");
