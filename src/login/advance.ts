import { acrOf, type Strength } from "../authz/step-up.ts";
import type { Missing } from "../oidc/core/ports.ts";
import { idpScope, valuesOf } from "../oidc/core/scope.ts";
import type { AccountLink } from "./account-link.ts";
import { dueLevel } from "./level.ts";
import type { FlowData } from "./flow.ts";
import { paths } from "./paths.ts";
import type { NoticeCode } from "./page.ts";
import type { LoginUsers } from "./users.ts";
import type { LoginPorts } from "./ports.ts";
import type { LoginSession, LoginSessions } from "./sessions.ts";
import type { KnownBrowsers } from "../resources/user/index.ts";
import {
  firstFactorAt,
  levelsOf,
  maxStepUpAgeMs,
  provenBy,
  type Progress as ProgressOf,
  type TrustedBrowsers,
} from "../resources/session/index.ts";
import { type Factor, isBesideMailbox } from "./pages/mfa.ts";
import { nextStep, type Step } from "./steps.ts";
import { spareIfTrusted } from "./trust.ts";
import { writing } from "./writing.ts";
import type { PageContext } from "./page-context.ts";
import type { LoginAnswer } from "./web.ts";

type Progress = ProgressOf<Factor>;

/** Where the provider takes a request up again that the login has ended for. */
export const callbackOf = (flowId: string): string =>
  `/oauth/v2/authorize/callback?id=${encodeURIComponent(flowId)}`;

export type Advance = {
  /** The session of the flow, while it lives. */
  sessionOf(context: PageContext): Promise<LoginSession | undefined>;
  /** How far the flow is. */
  progressOf(context: PageContext): Promise<Progress>;
  /** How strongly the user still has to prove themselves for what the application asks; undefined for no more. */
  dueOf(context: PageContext): Promise<Strength | undefined>;
  /** What the flow needs next. */
  stepOf(context: PageContext): Promise<Step>;
  /** Leads the browser to the next step, with a notice for its page; at the end back to who waits. */
  next(context: PageContext, notice?: NoticeCode): Promise<LoginAnswer>;
  /** Ends the flow without what the application asked for; the login counts all the same. */
  deny(context: PageContext, session: LoginSession): Promise<LoginAnswer>;
};

type Parts = LoginPorts & {
  users: LoginUsers;
  sessions: LoginSessions;
  linkAccount: AccountLink;
  knownBrowsers: Pick<KnownBrowsers, "remember">;
  trustedBrowsers: Pick<TrustedBrowsers, "spare">;
};

const pathOf: Readonly<Record<Exclude<Step, "done">, string>> = {
  loginName: paths.loginName,
  password: paths.password,
  emailLogin: paths.emailLogin,
  accounts: paths.accounts,
  register: paths.register,
  mfa: paths.mfa,
  setup: paths.setup,
  recoveryCodes: paths.setupRecoveryCodes,
  changePassword: paths.changePassword,
  verifyEmail: paths.verifyEmail,
  preparePasskey: paths.preparePasskey,
  consent: paths.consent,
};

/** Whether a proof is asked for that is no older than the flow; one of a clock that went back since is none. */
const asksAnew = ({ freshSince, stepUp }: FlowData): boolean =>
  freshSince !== undefined || stepUp !== undefined;

/** What a flow begins with, as its request wants it. */
export const beginningOf = ({ request, begin }: FlowData): Missing => {
  if (request?.prompt.includes("create")) return "create";
  return begin ?? (request?.prompt.includes("select_account") ? "select_account" : "login");
};

export function createAdvance(parts: Parts): Advance {
  const { sessions, trustedBrowsers } = parts;

  const sessionOf: Advance["sessionOf"] = async ({ hasFlow, flow, at }) => {
    const id = hasFlow ? flow.data.sessionId : undefined;
    const session = id === undefined ? undefined : await sessions.find(at.instanceId, id);
    if (session === undefined || !asksAnew(flow.data)) return session;
    return { ...session, proofs: provenBy(session.proofs, parts.now()) };
  };

  async function stepWith(context: PageContext, session: LoginSession | undefined) {
    const { data } = context.flow;
    const isConsentDue = await asksConsent(parts, context.at.instanceId, session, data.request);
    const due = await dueFor(parts, context, session);
    const isEmailDue = await asksEmail(parts, context, session);
    const isPreparable = await preparesPasskey(parts, context, session);
    const facts = { isConsentDue, isEmailDue, isPreparable, begin: beginningOf(data), due };
    return { step: nextStep(data, await progressFor(parts, context, session), facts), due };
  }

  /** The next step. Where it is the second factor, and the user trusts this browser, it is the one after that. */
  async function stepOrSpared(context: PageContext, session: LoginSession | undefined) {
    const found = await stepWith(context, session);
    if (session === undefined || found.step !== "mfa") return found;
    const progress = await progressFor(parts, context, session);
    const isSpared = await spareIfTrusted(trustedBrowsers, context, session, progress);
    return isSpared ? stepWith(context, await sessionOf(context)) : found;
  }

  async function next(context: PageContext, notice?: NoticeCode): Promise<LoginAnswer> {
    const session = await sessionOf(context);
    const { data } = context.flow;
    if (data.sessionId !== undefined && session === undefined) {
      // It ended meanwhile: from the beginning.
      const { sessionId: _, loginName: __, userId: ___, ...rest } = data;
      await context.save(rest);
      return context.go(paths.loginName, { problem: "SESSION_ENDED" });
    }
    const { step, due } = await stepOrSpared(context, session);
    const idp = due === "password" ? undefined : providerFor(context, step, session);
    if (idp !== undefined) return context.go(paths.provider, { idp });
    return step === "done" && session !== undefined
      ? finish(parts, context, session)
      : context.go(
          pathOf[step === "done" ? "loginName" : step],
          notice === undefined ? {} : { notice },
        );
  }

  return {
    sessionOf,
    progressOf: async (context) => progressFor(parts, context, await sessionOf(context)),
    dueOf: async (context) => dueFor(parts, context, await sessionOf(context)),
    stepOf: async (context) => (await stepWith(context, await sessionOf(context))).step,
    next,
    async deny(context, session) {
      await keep(parts, context, session);
      const { id } = await context.save({ ...context.flow.data, outcome: "denied" });
      return leave(context.go(""), callbackOf(id));
    },
  };
}

/** The session counts for the browser from now on, under a new cookie, and the browser is known to its user. */
async function keep(
  { knownBrowsers }: Pick<Parts, "knownBrowsers">,
  context: PageContext,
  { id, user }: LoginSession,
): Promise<void> {
  const by = { ...writing(context, user.id), browser: context.agent.id };
  // Together, so that one flush of the disk stores both.
  await Promise.all([
    context.renew([...context.agent.sessionIds.filter((other) => other !== id), id]),
    knownBrowsers.remember(by, user.id),
  ]);
}

async function progressFor(
  parts: Parts,
  context: PageContext,
  session: LoginSession | undefined,
): Promise<Progress> {
  const { at, flow, tenant } = context;
  const policy = await (session === undefined
    ? parts.policyOf({ instanceId: at.instanceId, organizationId: tenant.organizationId })
    : parts.demandOf(at.instanceId, session.user));
  const factors =
    session === undefined
      ? []
      : await parts.users.factors(at.instanceId, session.user.id, policy.secondFactors);
  return {
    policy,
    proofs: session?.proofs,
    factors,
    hasFactorBesideMailbox: factors.some(isBesideMailbox),
    freshSince: flow.data.freshSince,
    now: parts.now(),
  };
}

async function dueFor(
  { demandOf, users }: Parts,
  { at, flow }: PageContext,
  session: LoginSession | undefined,
): Promise<Strength | undefined> {
  const { request, stepUp, freshSince, isWithoutPasskey } = flow.data;
  const asked = stepUp === undefined ? request?.acr : { values: [acrOf(stepUp.strength)] };
  if (session === undefined || asked === undefined) return undefined;
  const policy = await demandOf(at.instanceId, session.user);
  const available = await users.strengths(at.instanceId, session.user.id, policy);
  const due = dueLevel(asked, session, available, stepUp?.since ?? freshSince);
  return due === "passkey" && isWithoutPasskey === true ? undefined : due;
}

/** Once a log-in: whoever is let in by what they have proven before is not asked. */
async function asksEmail(
  { demandOf, users }: Parts,
  { at, flow }: PageContext,
  session: LoginSession | undefined,
): Promise<boolean> {
  const { emailAsked, stepUp } = flow.data;
  if (session === undefined || emailAsked === "over" || stepUp !== undefined) return false;
  const provenAt = firstFactorAt(session.proofs)?.getTime() ?? 0;
  if (provenAt < flow.createdAt.getTime()) return false;
  const { allowUsernamePassword } = await demandOf(at.instanceId, session.user);
  if (!allowUsernamePassword) return false;
  return (await users.unprovenEmail(at.instanceId, session.user.id)) !== undefined;
}

/**
 * Whether the browser is to make a passkey by itself: in a log-in, not where somebody proves themselves anew, and for whom adding one
 * would need no other proof (L2).
 */
async function preparesPasskey(
  { demandOf, users, now }: Parts,
  { at, flow }: PageContext,
  session: LoginSession | undefined,
): Promise<boolean> {
  const { preparing, stepUp } = flow.data;
  if (session === undefined || preparing === undefined || stepUp !== undefined) return false;
  const policy = await demandOf(at.instanceId, session.user);
  const { isPreparable, strengths } = await users.preparation(
    at.instanceId,
    session.user.id,
    policy,
  );
  const proven = levelsOf(session.proofs, now().getTime() - maxStepUpAgeMs);
  return isPreparable && strengths[0] !== undefined && proven.includes(strengths[0]);
}

async function finish(
  parts: Parts,
  context: PageContext,
  session: LoginSession,
): Promise<LoginAnswer> {
  const { flow } = context;
  await parts.functions.authenticated(context.at, session.user);
  await parts.linkAccount(context, session);
  await keep(parts, context, session);
  const { request, device } = flow.data;
  await context.persisted();
  const saved = await context.save({ ...context.flow.data, outcome: "done" });
  if (request !== undefined) return leave(context.go(""), callbackOf(saved.id));
  if (device !== undefined) return context.go(paths.deviceConfirm);
  const { returnTo } = flow.data;
  if (returnTo !== undefined) return leave(context.go(""), returnTo);
  const { organizationId } = session.user;
  const tenant = { instanceId: context.at.instanceId, organizationId };
  const { defaultRedirectUri } = await parts.policyOf(tenant);
  return leave(context.go(""), defaultRedirectUri || paths.account);
}

async function asksConsent(
  { appOf, consents }: Pick<Parts, "appOf" | "consents">,
  instanceId: string,
  session: LoginSession | undefined,
  request: FlowData["request"],
): Promise<boolean> {
  if (session === undefined || request === undefined) return false;
  const app = await appOf(instanceId, request.clientId);
  return app !== undefined && consents.isDue(instanceId, session.user, app, request);
}

/** The identity provider that a step leads straight to: the one that the scope names, or that the user came from. */
function providerFor(
  { flow }: PageContext,
  step: Step,
  session: LoginSession | undefined,
): string | undefined {
  const { request, idp } = flow.data;
  // Who links an account authenticates in another way.
  if (idp !== undefined) return undefined;
  if (step === "password") return session?.idpId;
  return step === "loginName" ? valuesOf(request?.scope ?? [], idpScope)[0] : undefined;
}

/** The same answer with another destination, as it stands. */
export const leave = (answer: LoginAnswer, location: string): LoginAnswer => ({
  ...answer,
  headers: { ...answer.headers, location },
});
