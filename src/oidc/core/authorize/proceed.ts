import { invalidRequest } from "../errors.ts";
import { type OidcAnswer, type OidcRequest, redirect } from "../http.ts";
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
import { refuse } from "./refusal.ts";
import { type Fields, respond } from "./respond.ts";

/** What makes the answer of a request, once its user is known. */
export type Authorize = (
  at: At,
  asked: { request: AuthorizationRequest; client: Client; session: BrowserSession },
) => Promise<Fields>;

type Asked = { request: AuthorizationRequest; client: Client };

const withoutInteraction: Readonly<
  Record<Missing, "login_required" | "interaction_required" | "consent_required">
> = {
  login: "login_required",
  consent: "consent_required",
  select_account: "interaction_required",
  create: "interaction_required",
};

/** What happens to a request that is known to be valid: an answer to its client, or a way to what is missing. */
export function proceeding(ports: Ports, authorize: Authorize) {
  const { users, browsers, interactions, now } = ports;

  /** Answers with the session of the browser, or leads the user to what is missing. */
  async function proceed(
    at: At,
    http: OidcRequest,
    asked: Asked & { keptAs: string | undefined },
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
    const begun = await interactions.begin(at, asked, missing ?? "login", cookies);
    return redirect(begun.location, begun.cookies);
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
    asked: Asked & { session: BrowserSession },
  ): Promise<OidcAnswer> {
    const { request, client, session } = asked;
    requireAcr(request, session);
    if (!(await users.mayUse(at, session.user, client.projectId))) {
      throw refuse("access_denied", "the user may not use this application");
    }
    return respond(interactions, at, request, await authorize(at, asked), http);
  }

  return { proceed, finish };
}

const choiceMissing = (choice: ReturnType<typeof chooseSession>): Missing =>
  "missing" in choice ? choice.missing : "login";

/** Refuses what the browser no longer has, or never had. */
export const gone = () =>
  invalidRequest("this login has ended, or began in another browser: go back to the application");
