import { createNewcomers } from "../../resources/user/index.ts";
import { accountEmail } from "../account-email.ts";
import { constantTime } from "../../constant-time.ts";
import type { FlowData } from "../flow.ts";
import type { Problem } from "../page.ts";
import { registerPage } from "../pages/register.ts";
import { verifyEmailPage } from "../pages/verify-email.ts";
import { paths } from "../paths.ts";
import { createRegistration, isAddress } from "../registration.ts";
import { missingIn, noticeOf, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { Shown, PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";

const wrongCode = [{ code: "CODE_INVALID", field: "code" }] as const;

type Newcomer = NonNullable<FlowData["newcomer"]>;

/** What both steps of a registration stand on. */
const registrationOf = (parts: RouteParts) => ({
  ...parts,
  ...constantTime(400),
  ...createRegistration(parts),
  newcomers: createNewcomers(parts.deps),
  account: accountEmail(parts),
});
type RegistrationParts = ReturnType<typeof registrationOf>;

/**
 * Registration up to the proof of the e-mail address, and the proof of that of an account. Whether an account has the address,
 * only the mail tells: whoever reads it (D50, J13). Until the proof there is no account.
 */
export function registerRoutes(parts: RouteParts): Route[] {
  const registration = registrationOf(parts);
  const { always, requireAllowed } = registration;

  return [
    {
      path: paths.register,
      async get(context) {
        if (!context.hasFlow) await context.save({ begin: "create" });
        await requireAllowed(context);
        return show(parts, context);
      },
      async post(context) {
        await requireAllowed(context);
        const typed = typedIn(context);
        const problems = problemsIn(context, typed.email);
        if (problems.length > 0) return context.again({ problems });
        // Whoever was about to log in here registers instead.
        const { sessionId: _, ...rest } = context.flow.data;
        await context.save(rest);
        await always(() => ask(registration, context, typed));
        return context.go(paths.verifyEmail);
      },
    },
    verifyEmailRoute(registration),
  ];
}

/** The address of whoever registers has the code sent; nothing is proven of another one any more. */
async function ask(
  { deps, newcomers, homeOf }: RegistrationParts,
  context: PageContext,
  newcomer: Omit<Newcomer, "id">,
): Promise<void> {
  const id = context.flow.data.newcomer?.id ?? deps.newId();
  const { email: address } = newcomer;
  const organizationId = await homeOf(context);
  const { language } = context;
  const at = writing(context, "system:login");
  await newcomers.ask(at, { id, address, organizationId, language });
  await context.save({ ...context.flow.data, newcomer: { ...newcomer, id } });
}

/** The proof of an address by the code that was sent there: of whoever registers, or of an account. */
function verifyEmailRoute(registration: RegistrationParts): Route {
  const { always, newcomers, account, advance, mayTell, requireAllowed } = registration;

  async function showVerify(context: PageContext, shown: Shown): Promise<LoginAnswer> {
    const newcomer = newcomerOf(context);
    if (newcomer?.isProven === true) return context.go(paths.registerAccount);
    const asked =
      newcomer === undefined
        ? await account.view(context)
        : { address: newcomer.email, other: valueOf(context, "email") || newcomer.email };
    if (asked === undefined) return advance.next(context);
    const code = context.query.get("code");
    const view = { isSent: true, ...asked, ...(code === undefined ? {} : { code }) };
    return context.show((page) => verifyEmailPage(page, view), {
      ...shown,
      self: paths.verifyEmail,
    });
  }

  /** A new code, where an address waits for one. */
  async function resend(context: PageContext): Promise<Shown> {
    const newcomer = newcomerOf(context);
    if (newcomer === undefined) return account.send(context);
    const waits = { instanceId: context.at.instanceId, userId: newcomer.id };
    if (!(await mayTell(waits, "registration"))) return { problems: [{ code: "RATE_LIMITED" }] };
    await ask(registration, context, newcomer);
    return { notice: "CODE_SENT" };
  }

  /** The address was mistyped: another one takes its place, with a code of its own. */
  async function correct(context: PageContext, email: string): Promise<LoginAnswer> {
    const newcomer = newcomerOf(context);
    const problems = await always(async () => {
      if (newcomer === undefined) return account.correct(context, email);
      if (!isAddress(email)) return [{ code: "EMAIL_INVALID", field: "email" }] as const;
      const { givenName, familyName } = newcomer;
      await ask(registration, context, { givenName, familyName, email });
      return [];
    });
    return problems.length > 0
      ? context.again({ problems })
      : context.go(paths.verifyEmail, { notice: "CODE_SENT" });
  }

  async function verify(context: PageContext): Promise<readonly Problem[]> {
    const missing = missingIn(context, ["code"]);
    if (missing.length > 0) return missing;
    const code = valueOf(context, "code");
    const newcomer = newcomerOf(context);
    return newcomer === undefined
      ? account.verify(context, code)
      : verifyNewcomer(newcomers, context, newcomer, code);
  }

  return {
    path: paths.verifyEmail,
    get: (context) => showVerify(context, noticeOf(context)),
    async post(context) {
      const newcomer = newcomerOf(context);
      if (newcomer !== undefined) await requireAllowed(context);
      if (valueOf(context, "resend") !== "") {
        return context.again(await always(() => resend(context)));
      }
      if (newcomer === undefined && valueOf(context, "skip") !== "") {
        await account.skip(context);
        return advance.next(context);
      }
      const email = valueOf(context, "email");
      if (email !== "") return correct(context, email);
      const problems = await always(() => verify(context));
      if (problems.length > 0) return context.again({ problems });
      return newcomer === undefined ? advance.next(context) : context.go(paths.registerAccount);
    },
  };
}

async function show({ appOf }: RouteParts, context: PageContext): Promise<LoginAnswer> {
  const { request, newcomer } = context.flow.data;
  const app = request && (await appOf(context.at.instanceId, request.clientId));
  const view = {
    ...(app === undefined ? {} : { app: app.name }),
    values: context.form.has("email") ? typedIn(context) : (newcomer ?? typedIn(context)),
  };
  return context.show((page) => registerPage(page, view), { self: paths.register });
}

const typedIn = (context: PageContext) => ({
  givenName: valueOf(context, "given_name"),
  familyName: valueOf(context, "family_name"),
  email: valueOf(context, "email"),
});

async function verifyNewcomer(
  newcomers: ReturnType<typeof createNewcomers>,
  context: PageContext,
  newcomer: Newcomer,
  code: string,
) {
  const tried = { id: newcomer.id, address: newcomer.email, code };
  if (!(await newcomers.prove(writing(context, "system:login"), tried))) return wrongCode;
  await context.save({ ...context.flow.data, newcomer: { ...newcomer, isProven: true } });
  return [];
}

/** Who is registering in the flow; whoever has logged in meanwhile is not. */
export const newcomerOf = ({ flow: { data } }: PageContext): Newcomer | undefined =>
  data.sessionId === undefined ? data.newcomer : undefined;

function problemsIn(context: PageContext, email: string): readonly Problem[] {
  const missing = missingIn(context, ["given_name", "family_name", "email"]);
  if (missing.length > 0) return missing;
  return isAddress(email) ? [] : [{ code: "EMAIL_INVALID", field: "email" }];
}
