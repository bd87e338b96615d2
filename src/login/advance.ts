import type { Missing } from "../oidc/core/ports.ts";
import type { Consents } from "./consents.ts";
import type { FlowData } from "./flow.ts";
import { paths } from "./paths.ts";
import type { People } from "./people.ts";
import type { LoginPorts } from "./ports.ts";
import type { LoginSession, LoginSessions } from "./sessions.ts";
import { nextStep, type Progress, type Step } from "./steps.ts";
import type { Visit } from "./visit.ts";
import type { LoginAnswer } from "./web.ts";

/** Where the provider takes a request up again that the login has ended for. */
export const callbackOf = (flowId: string): string =>
  `/oauth/v2/authorize/callback?id=${encodeURIComponent(flowId)}`;

export type Advance = {
  /** The session of the flow, while it lives. */
  sessionOf(visit: Visit): Promise<LoginSession | undefined>;
  /** How far the flow is. */
  progressOf(visit: Visit): Promise<Progress>;
  /** Leads the browser to the next step; at the end back to who waits. */
  next(visit: Visit): Promise<LoginAnswer>;
};

type Parts = LoginPorts & { people: People; sessions: LoginSessions; consents: Consents };

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
    const organizationId = session?.user.organizationId ?? place.organizationId;
    const policy = await parts.policyOf({ instanceId: at.instanceId, organizationId });
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

  async function next(visit: Visit): Promise<LoginAnswer> {
    const { at } = visit;
    const session = await sessionOf(visit);
    const { data } = visit.flow;
    if (data.sessionId !== undefined && session === undefined) {
      // It ended meanwhile: from the beginning.
      const { sessionId: _, loginName: __, userId: ___, ...rest } = data;
      await visit.save(rest);
      return visit.go(paths.loginName, { problem: "SESSION_ENDED" });
    }
    const isConsentDue =
      session !== undefined &&
      data.request !== undefined &&
      (await consents.isDue(at.instanceId, session.user, data.request));
    const facts = { isConsentDue, begin: beginningOf(data) };
    const step = nextStep(data, await progressFor(visit, session), facts);
    return step === "done" && session !== undefined
      ? finish(visit, session)
      : visit.go(pathOf[step === "done" ? "loginName" : step]);
  }

  /** The session counts for the browser from now on, under a new cookie. */
  async function finish(visit: Visit, session: LoginSession): Promise<LoginAnswer> {
    const { flow, agent } = visit;
    await visit.renew([...agent.sessionIds.filter((id) => id !== session.id), session.id]);
    const { request, device } = flow.data;
    const saved = await visit.save({ ...flow.data, outcome: "done" });
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
    next,
  };
}

/** The same answer with another destination, as it stands. */
export const leave = (answer: LoginAnswer, location: string): LoginAnswer => ({
  ...answer,
  headers: { ...answer.headers, location },
});
