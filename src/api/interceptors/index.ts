import type { Logger } from "pino";
import type { CallExecutions } from "../../authz/executions.ts";
import type { Budgets } from "../../authz/budgets.ts";
import type {
  BeforeChange,
  BrowserTokens,
  FeatureReader,
  InstanceReader,
  MembershipReader,
  NoteRefusal,
  OrganizationReader,
  PowerReader,
  RegistrationReader,
  StepUp,
  TokenVerifier,
  UsageCounter,
} from "../../authz/ports.ts";
import type { ShowAddress } from "../../authz/shown-address.ts";
import type { ServiceBinding } from "../../authz/service.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Check, Interceptor, InterceptorFactory } from "../call.ts";
import type { MethodRule } from "../method-rule.ts";
import type { SlowDown } from "../slow-down.ts";
import type { Judge } from "../validation.ts";
import { actingFor } from "./acting-for.ts";
import { authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { deadline } from "./deadline.ts";
import { decode } from "./decode.ts";
import { errors } from "./errors.ts";
import { executions } from "./executions.ts";
import { feature } from "./feature.ts";
import { holds } from "./holds.ts";
import { instance } from "./instance.ts";
import { organization } from "./organization.ts";
import { permission } from "./permission.ts";
import { precondition } from "./precondition.ts";
import { type RateLimiter, rateLimit } from "./rate-limit.ts";
import { sessionPolicy } from "./session-policy.ts";
import { spread } from "./spread.ts";
import { stepUp } from "./step-up.ts";
import { telemetry } from "./telemetry.ts";
import { validate } from "./validate.ts";

/** What the interceptors ask of the rest of the service. */
export type Ports = {
  instances: InstanceReader;
  organizations: OrganizationReader;
  memberships: MembershipReader;
  powers: PowerReader;
  registrations: RegistrationReader;
  stepUp: StepUp;
  features: FeatureReader;
  tokens: readonly TokenVerifier[];
  /** Calls of the console bring a cookie in the place of a token. */
  browserTokens: BrowserTokens;
  beforeChange: BeforeChange | undefined;
  /** Calls targets around methods. */
  executions?: CallExecutions | undefined;
  validator: Judge;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing | undefined;
  noteRefusal: NoteRefusal;
  budgets: Pick<Budgets, "spend">;
  slowDown: SlowDown;
  /** What the log shows of the address of a client. */
  showAddress: ShowAddress;
  limitRate: RateLimiter;
  /** What the instance may use in a day. */
  usage: UsageCounter;
  /** The external URL of the configuration: scheme and port of every issuer. */
  externalUrl: URL;
};

/**
 * The steps around every call, outermost first (X5). A test pins the order.
 */
export const order: readonly [
  name: string,
  make: (ports: Ports, binding: ServiceBinding) => InterceptorFactory,
][] = [
  // Sees every outcome, also refusals of the steps below.
  ["telemetry", telemetry],
  // Whatever is thrown below becomes a refusal that may be shown; those of strangers cost their source its budget.
  ["errors", errors],
  // Bounds the time of everything below, the reading of the body included.
  ["deadline", deadline],
  // Within the deadline, and within the time that the log and the metrics tell.
  ["spread", spread],
  // Tokens, organizations and features mean something only within an instance.
  ["instance", instance],
  // Before the body is read: a stranger costs us headers, not 4 MiB.
  ["authenticate", authenticate],
  // Knows the caller, and spares the body.
  ["rateLimit", rateLimit],
  ["decode", decode],
  // Who calls may be somebody for whom a login client acts.
  ["actingFor", actingFor],
  // A session that lacks something may only be finished: before anything is asked of permissions.
  ["sessionPolicy", sessionPolicy],
  // Needs the request: its ctx goes before the header.
  ["organization", organization],
  ["feature", feature],
  // Who can in no case do this learns nothing of the validity of their request.
  ["permission", permission],
  ["validate", validate],
  // Judged in the unit that changes the object.
  ["precondition", precondition],
  // The object itself; only a valid request names one.
  ["authorize", authorize],
  // Only who may do it at all is asked to prove themselves again.
  ["stepUp", stepUp],
  // Whose power it moves: only for who may do it at all.
  ["holds", holds],
  // Innermost: targets see only authorized, valid calls. Of unary methods only (X5).
  ["executions", executions],
];

// What must still hold while a stream flows.
const standing: ReadonlySet<string> = new Set([
  "instance",
  "authenticate",
  "sessionPolicy",
  "organization",
  "feature",
  "permission",
  "authorize",
]);

/** The checks that a stream is bound to for as long as it flows, in order. */
export const standingChecks = (ports: Ports, binding: ServiceBinding, rule: MethodRule): Check[] =>
  order
    .filter(([name]) => standing.has(name))
    .map(([, make]) => make(ports, binding)(rule))
    .filter((step) => typeof step === "object");

/** The steps that a method needs, in order. */
export const interceptorsFor = (
  ports: Ports,
  binding: ServiceBinding,
  rule: MethodRule,
): Interceptor[] =>
  order.map(([, make]) => make(ports, binding)(rule)).filter((step) => step !== undefined);
