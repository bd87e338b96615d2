import type { Strength } from "../authz/step-up.ts";
import type { Missing } from "../oidc/core/ports.ts";
import { idpScope, valuesOf } from "../oidc/core/scope.ts";
import type { Consents } from "../resources/consent/index.ts";
import type { AccountLink } from "./account-link.ts";
import { dueLevel } from "./level.ts";
import type { FlowData } from "./flow.ts";
import { paths } from "./paths.ts";
import type { NoticeCode } from "./page.ts";
import type { People } from "./people.ts";
import type { LoginPorts } from "./ports.ts";
import type { LoginSession, LoginSessions } from "./sessions.ts";
import type { KnownBrowsers } from "../resources/user/index.ts";
import type { Progress as ProgressOf } from "../resources/session/index.ts";
import type { Factor } from "./pages/mfa.ts";
import { nextStep, type Step } from "./steps.ts";
import { writing } from "./writing.ts";
import type { Visit } from "./visit.ts";
import type { LoginAnswer } from "./web.ts";

type Progress = ProgressOf<Factor>;

/** Where the provider takes a request up again that the login has ended for. */
export const callbackOf = (flowId: string): string =>
  `/oauth/v2/authorize/callback?id=${encodeURIComponent(flowId)}`;

export type Advance = {
  /** The session of the flow, while it lives. */
  sessionOf(visit: Visit): Promise<LoginSession | undefined>;
  /** How far the flow is. */
  progressOf(visit: Visit): Promise<Progress>;
  /** How strongly the user still has to prove themselves for what the application asks; undefined for no more. */
  dueOf(visit: Visit): Promise<Strength | undefined>;
  /** What the flow needs next. */
  stepOf(visit: Visit): Promise<Step>;
  /** Leads the browser to the next step, with a notice for its page; at the end back to who waits. */
  next(visit: Visit, notice?: NoticeCode): Promise<LoginAnswer>;
  /** Ends the flow without what the application asked for; the login counts all the same. */
  deny(visit: Visit, session: LoginSession): Promise<LoginAnswer>;
};

type Parts = LoginPorts & {
  people: People;
  sessions: LoginSessions;
  consents: Consents;
  linkAccount: AccountLink;
  knownBrowsers: Pick<KnownBrowsers, "remember">;
};

const pathOf: Readonly<Record<Exclude<Step, "done">, string>> = {
  loginName: paths.loginName,
  password: paths.password,
  accounts: paths.accounts,
  register: paths.register,
  mfa: paths.mfa,
  setup: paths.setup,
  changePassword: paths.changePassword,
  verifyEmail: paths.verifyEmail,
  consent: paths.consent,
};

/** What a flow begins with, as its request wants it. */
export const beginningOf = ({ request, begin }: FlowData): Missing => {
  if (request?.prompt.includes("create")) return "create";
  return begin ?? (request?.prompt.includes("select_account") ? "select_account" : "login");
};

export function createAdvance(parts: Parts): Advance {
  const { people, sessions, consents, now } = parts;

  const sessionOf: Advance["sessionOf"] = async ({ hasFlow, flow, at }) => {
    const id = hasFlow ? flow.data.sessionId : undefined;
    return id === undefined ? undefined : sessions.find(at.instanceId, id);
  };

  async function progressFor(visit: Visit, session: LoginSession | undefined): Promise<Progress> {
    const { at, flow, place } = visit;
    const policy = await (session === undefined
      ? parts.policyOf({ instanceId: at.instanceId, organizationId: place.organizationId })
      : parts.demandOf(at.instanceId, session.user));
    return {
      policy,
      proofs: session?.proofs,
      factors:
        session === undefined
          ? []
          : await people.factors(at.instanceId, session.user.id, policy.secondFactors),
      freshSince: flow.data.freshSince,
      now: now(),
    };
  }

  async function stepWith(visit: Visit, session: LoginSession | undefined) {
    const { data } = visit.flow;
    const isConsentDue = await asksConsent(visit.at.instanceId, session, data.request);
    const due = await dueFor(visit, session);
    const facts = { isConsentDue, begin: beginningOf(data), due };
    return { step: nextStep(data, await progressFor(visit, session), facts), due };
  }

  async function dueFor(
    { at, flow }: Visit,
    session: LoginSession | undefined,
  ): Promise<Strength | undefined> {
    const { request, freshSince, isWithoutPasskey } = flow.data;
    if (session === undefined || request?.acr === undefined) return undefined;
    const policy = await parts.demandOf(at.instanceId, session.user);
    const held = await people.strengths(at.instanceId, session.user.id, policy);
    const due = dueLevel(request, session, held, freshSince);
    return due === "passkey" && isWithoutPasskey === true ? undefined : due;
  }

  async function asksConsent(
    instanceId: string,
    session: LoginSession | undefined,
    request: FlowData["request"],
  ): Promise<boolean> {
    if (session === undefined || request === undefined) return false;
    const app = await parts.appOf(instanceId, request.clientId);
    return app !== undefined && consents.isDue(instanceId, session.user, app, request);
  }

  async function next(visit: Visit, notice?: NoticeCode): Promise<LoginAnswer> {
    const session = await sessionOf(visit);
    const { data } = visit.flow;
    if (data.sessionId !== undefined && session === undefined) {
      // It ended meanwhile: from the beginning.
      const { sessionId: _, loginName: __, userId: ___, ...rest } = data;
      await visit.save(rest);
      return visit.go(paths.loginName, { problem: "SESSION_ENDED" });
    }
    const { step, due } = await stepWith(visit, session);
    const idp = due === "password" ? undefined : providerFor(visit, step, session);
    if (idp !== undefined) return visit.go(paths.provider, { idp });
    return step === "done" && session !== undefined
      ? finish(visit, session)
      : visit.go(
          pathOf[step === "done" ? "loginName" : step],
          notice === undefined ? {} : { notice },
        );
  }

  /** The session counts for the browser from now on, under a new cookie. */
  const keep = ({ agent, renew }: Visit, { id }: LoginSession) =>
    renew([...agent.sessionIds.filter((other) => other !== id), id]);

  async function finish(visit: Visit, session: LoginSession): Promise<LoginAnswer> {
    const { flow } = visit;
    await parts.functions.authenticated(visit.at, session.user);
    await parts.linkAccount(visit, session);
    await keep(visit, session);
    const by = { ...writing(visit, session.user.id), browser: visit.agent.id };
    await parts.knownBrowsers.remember(by, session.user.id);
    const { request, device } = flow.data;
    await visit.kept();
    const saved = await visit.save({ ...visit.flow.data, outcome: "done" });
    if (request !== undefined) return leave(visit.go(""), callbackOf(saved.id));
    if (device !== undefined) return visit.go(paths.deviceConfirm);
    const { organizationId } = session.user;
    const place = { instanceId: visit.at.instanceId, organizationId };
    const { defaultRedirectUri } = await parts.policyOf(place);
    return defaultRedirectUri === ""
      ? visit.go(paths.signedIn)
      : leave(visit.go(""), defaultRedirectUri);
  }

  return {
    sessionOf,
    progressOf: async (visit) => progressFor(visit, await sessionOf(visit)),
    dueOf: async (visit) => dueFor(visit, await sessionOf(visit)),
    stepOf: async (visit) => (await stepWith(visit, await sessionOf(visit))).step,
    next,
    async deny(visit, session) {
      await keep(visit, session);
      const { id } = await visit.save({ ...visit.flow.data, outcome: "denied" });
      return leave(visit.go(""), callbackOf(id));
    },
  };
}

/** The identity provider that a step leads straight to: the one that the scope names, or that the user came from. */
function providerFor(
  { flow }: Visit,
  step: Step,
  session: LoginSession | undefined,
): string | undefined {
  const { request, idp } = flow.data;
  // Who links an account proves himself in another way.
  if (idp !== undefined) return undefined;
  if (step === "password") return session?.idpId;
  return step === "loginName" ? valuesOf(request?.scope ?? [], idpScope)[0] : undefined;
}

/** The same answer with another destination, as it stands. */
export const leave = (answer: LoginAnswer, location: string): LoginAnswer => ({
  ...answer,
  headers: { ...answer.headers, location },
});
