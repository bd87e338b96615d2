import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../authz/source.ts";
import { openProvenSession, type Proof } from "../resources/session/index.ts";
import { requirePolicy } from "../resources/user/index.ts";
import type { FlowData } from "./flow.ts";
import type { PageContext } from "./page-context.ts";
import type { Problem } from "./page.ts";
import { provePassword } from "./prove.ts";
import { createRegistration } from "./registration.ts";
import { type RouteParts, toProblems } from "./route.ts";
import { writing } from "./writing.ts";

export type Newcomer = NonNullable<FlowData["newcomer"]>;

/** What the new account is logged in to by. */
export type NewWayIn =
  | { kind: "password"; password: string }
  | { kind: "passkey"; passkey: { webAuthNId: string; name: string; credential: JsonObject } }
  | { kind: "email" };

/** Makes the account of whoever has proven their address, and logs them in. What is wrong; nothing when it is done. */
export type NewAccounts = (
  context: PageContext,
  newcomer: Newcomer,
  wayIn: NewWayIn,
) => Promise<readonly Problem[]>;

export function createNewAccounts(parts: RouteParts): NewAccounts {
  const { deps, functions, call, passwordRulesOf } = parts;
  const { homeOf } = createRegistration(parts);

  async function weakness(context: PageContext, newcomer: Newcomer, wayIn: NewWayIn) {
    if (wayIn.kind !== "password") return [];
    const rules = await passwordRulesOf(context.tenant);
    const { username, email, data } = accountOf(context, newcomer);
    const person = { username, email: { address: email, isVerified: true }, data };
    return problemsOf(() => requirePolicy(rules, wayIn.password, person, "new_password"));
  }

  async function make(context: PageContext, newcomer: Newcomer, wayIn: NewWayIn): Promise<void> {
    const { username, email, data } = accountOf(context, newcomer);
    const organizationId = await homeOf(context);
    const described = { username, organization_id: organizationId, data, email };
    const keep = await functions.creating(context.at, described);
    const isVerified = { case: "isVerified", value: true } as const;
    const contact = { email: { address: email, verification: isVerified } };
    const made = await call(
      UserService.method.createUser,
      { user: { username, data, contact, ...passwordOf(wayIn) } },
      {
        ...context.asService(organizationId),
        newcomer:
          wayIn.kind === "passkey" ? { passkey: { userId: newcomer.id, ...wayIn.passkey } } : {},
      },
    );
    const user = { id: made.details?.id ?? "", organizationId };
    await keep(user.id);
    await functions.created(context.at, user);
    const { newcomer: _, sessionId: __, mustChangePassword: ___, ...rest } = context.flow.data;
    await context.save({ ...rest, loginName: username, userId: user.id, isChosen: true });
    if (wayIn.kind === "password") await provePassword(parts, context, wayIn.password);
    else await open(context, user.id, proofOf(wayIn));
  }

  async function open(context: PageContext, userId: string, proof: Proof): Promise<void> {
    const { sessionLifetimeMs: lifetimeMs } = await parts.policyOf(context.tenant);
    const by = { ...writing(context, userId), browser: context.agent.id };
    const sessionId = await openProvenSession(parts, by, { userId, proof, lifetimeMs });
    if (sessionId !== undefined) await context.save({ ...context.flow.data, sessionId });
  }

  return async (context, newcomer, wayIn) => {
    const weak = await weakness(context, newcomer, wayIn);
    if (weak.length > 0) return weak;
    // What tells whether a name is taken counts, and so does what is told to targets; a password that is too short is neither.
    deps.budgets.spend("registrations", sourceOf(context.at.peer));
    return problemsOf(() => make(context, newcomer, wayIn));
  };
}

const accountOf = ({ language }: PageContext, newcomer: Newcomer) => ({
  username: newcomer.loginName ?? newcomer.email,
  email: newcomer.email,
  data: {
    given_name: newcomer.givenName,
    family_name: newcomer.familyName,
    preferred_language: language,
  },
});

const passwordOf = (wayIn: NewWayIn) =>
  wayIn.kind === "password"
    ? {
        authenticators: {
          password: { type: { case: "password", value: wayIn.password } },
        } as const,
      }
    : {};

/** The code that proved the address is the one that a log-in by mail asks for. */
const proofOf = (wayIn: Exclude<NewWayIn, { kind: "password" }>): Proof =>
  wayIn.kind === "email"
    ? { kind: "email" }
    : { kind: "webauthn", webAuthNId: wayIn.passkey.webAuthNId, isUserVerified: true };

async function problemsOf(work: () => Promise<void>): Promise<readonly Problem[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return toProblems(error);
  }
}
