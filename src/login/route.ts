import { DomainError } from "../errors.ts";
import type { Browsers } from "../oidc/core/ports.ts";
import type { TrustedBrowsers } from "../resources/session/index.ts";
import type { KnownBrowsers, UserChecks } from "../resources/user/index.ts";
import type { Advance } from "./advance.ts";
import type { Agents } from "./agents.ts";
import type { FlowStore } from "./flow-store.ts";
import type { MessagePace } from "./message-pace.ts";
import type { NoticeCode, Problem, ProblemCode } from "./page.ts";
import type { LoginUsers } from "./users.ts";
import type { LoginPorts } from "./ports.ts";
import type { LoginSession, LoginSessions } from "./sessions.ts";
import { isTextKey } from "../texts/texts.ts";
import { PageRefused, type Shown, type PageContext } from "./page-context.ts";
import type { LoginAnswer } from "./web.ts";

/** Everything that routes stand on. */
export type RouteParts = LoginPorts & {
  agents: Agents;
  flows: FlowStore;
  users: LoginUsers;
  sessions: LoginSessions;
  advance: Advance;
  mayTell: MessagePace;
  browsers: Browsers;
  checks: UserChecks;
  knownBrowsers: Pick<KnownBrowsers, "find">;
  trustedBrowsers: Pick<TrustedBrowsers, "trust">;
};

/** A page of the login: what shows it, and what its form does. */
export type Route = {
  path: string;
  /** It stands without a flow: whoever comes with one that is over is led to it anew. */
  isLasting?: true;
  get?: (context: PageContext) => Promise<LoginAnswer>;
  post?: (context: PageContext) => Promise<LoginAnswer>;
};

/** The session of the flow, where the page makes no sense without one. @throws PageRefused, which leads to where the flow is */
export async function requireSession(
  { advance }: RouteParts,
  context: PageContext,
): Promise<LoginSession> {
  const session = await advance.sessionOf(context);
  if (session !== undefined) return session;
  const refused = new PageRefused("FLOW_NOT_FOUND", 400);
  refused.isElsewhere = true;
  throw refused;
}

/** The problem that another page sent the browser here with. */
export function problemsOf({ query }: PageContext): Pick<Shown, "problems"> {
  const code = query.get("problem") ?? "";
  return isTextKey(`problem.${code}`) ? { problems: [{ code: code as ProblemCode }] } : {};
}

/** What went well on the page before. */
export function noticeOf({ query }: PageContext): Pick<Shown, "notice"> {
  const code = query.get("notice") ?? "";
  return isTextKey(`notice.${code}`) ? { notice: code as NoticeCode } : {};
}

/** What a form says, without the spaces around it. */
export const valueOf = ({ form }: PageContext, name: string): string =>
  (form.get(name) ?? "").trim();

/** Fields that a form has left empty. A password may be made of spaces. */
export const missingIn = (context: PageContext, names: readonly string[]): Problem[] =>
  names
    .filter(
      (name) =>
        (context.form.get(name) ?? "") === "" ||
        (!/password/.test(name) && valueOf(context, name) === ""),
    )
    .map((field) => ({ code: "FIELD_MISSING", field }));

/** Names of fields of the service, as forms call them. */
const fieldNames: readonly [ending: RegExp, name: string][] = [
  [/password/, "new_password"],
  [/email|address/, "email"],
  [/username/, "login_name"],
  [/given_name/, "given_name"],
  [/family_name/, "family_name"],
  [/code/, "code"],
];

/**
 * What a refusal of the service means to the person at the form. What is the service's own fault, or that of the flow, is
 * no problem of the form.
 */
export function toProblems(error: unknown): readonly Problem[] {
  if (!(error instanceof DomainError)) throw error;
  if (error.reason === "QUOTA_EXHAUSTED") return [{ code: "QUOTA_EXHAUSTED" }];
  if (error.kind === "resourceExhausted") return [{ code: "RATE_LIMITED" }];
  if (error.kind !== "invalidArgument" && error.kind !== "alreadyExists") throw error;
  if (error.violations.length === 0) return [toProblem(error.reason, "", error.metadata)];
  return error.violations.map(({ field, reason }) =>
    toProblem(reason ?? error.reason, field, error.metadata),
  );
}

function toProblem(reason: string, field: string, metadata: Record<string, string>): Problem {
  const name = fieldNames.find(([ending]) => ending.test(field))?.[1];
  const least = Number(metadata["min_length"] ?? metadata["minimum"]);
  return {
    code: codeOf(reason),
    ...(name === undefined ? {} : { field: name }),
    ...(Number.isNaN(least) ? {} : { count: least }),
  };
}

function codeOf(reason: string): ProblemCode {
  if (isTextKey(`problem.${reason}`)) return reason as ProblemCode;
  if (reason.endsWith("max_len")) return "FIELD_TOO_LONG";
  if (reason.endsWith("min_len")) return "FIELD_MISSING";
  return "FIELD_INVALID";
}

/** Whom the request does not mean is nobody here: another than the hinted user, or one of another organization. */
export async function isMeant(
  { users }: RouteParts,
  { flow, tenant, at }: PageContext,
  userId: string,
): Promise<boolean> {
  const { hintedUserId, organization } = flow.data.request ?? {};
  if (hintedUserId !== undefined && hintedUserId !== userId) return false;
  if (organization === undefined) return true;
  const home = await users.organizationOf(at.instanceId, userId);
  return tenant.organizationId !== undefined && home === tenant.organizationId;
}
