import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { createNewcomers } from "../../resources/user/index.ts";
import { asUser } from "../as-user.ts";
import { constantTime } from "../../constant-time.ts";
import type { FlowData } from "../flow.ts";
import type { Problem } from "../page.ts";
import { registerPage } from "../pages/register.ts";
import { verifyEmailPage } from "../pages/verify-email.ts";
import { paths } from "../paths.ts";
import { createRegistration, isAddress } from "../registration.ts";
import { noticeOf, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { Shown, Visit } from "../visit.ts";
import type { LoginAnswer } from "../web.ts";

const wrongCode = [{ code: "CODE_INVALID", field: "code" }] as const;

type Newcomer = NonNullable<FlowData["newcomer"]>;

/**
 * Registration up to the proof of the e-mail address, and the proof of that of an account. Whether an account has the address,
 * only the mail tells: whoever reads it (D50, J13). Until the proof there is no account.
 */
export function registerRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(400);
  const { deps, advance, call, mayTell, appOf } = parts;
  const { homeOf, requireAllowed } = createRegistration(parts);
  const newcomers = createNewcomers(deps);

  const typedIn = (visit: Visit) => ({
    givenName: valueOf(visit, "given_name"),
    familyName: valueOf(visit, "family_name"),
    email: valueOf(visit, "email"),
  });

  async function show(visit: Visit): Promise<LoginAnswer> {
    const { request, newcomer } = visit.flow.data;
    const app = request && (await appOf(visit.at.instanceId, request.clientId));
    const view = {
      ...(app === undefined ? {} : { app: app.name }),
      values: visit.form.has("email") ? typedIn(visit) : (newcomer ?? typedIn(visit)),
    };
    return visit.show((page) => registerPage(page, view), { self: paths.register });
  }

  /** The address of whoever registers has the code sent; nothing is proven of another one any more. */
  async function ask(visit: Visit, newcomer: Omit<Newcomer, "id">): Promise<void> {
    const id = visit.flow.data.newcomer?.id ?? deps.newId();
    const { email: address } = newcomer;
    const organizationId = await homeOf(visit);
    const { language } = visit;
    const at = writing(visit, "system:login");
    await newcomers.ask(at, { id, address, organizationId, language });
    await visit.save({ ...visit.flow.data, newcomer: { ...newcomer, id } });
  }

  async function showVerify(visit: Visit, shown: Shown): Promise<LoginAnswer> {
    const { mustVerifyEmail, email = "" } = visit.flow.data;
    const newcomer = newcomerOf(visit);
    if (newcomer?.isProven === true) return visit.go(paths.registerAccount);
    if (newcomer === undefined && mustVerifyEmail !== true) return advance.next(visit);
    const code = visit.query.get("code");
    const view = {
      address: newcomer?.email ?? email,
      ...(code === undefined ? {} : { code }),
      ...(newcomer === undefined ? {} : { other: valueOf(visit, "email") || newcomer.email }),
    };
    return visit.show((page) => verifyEmailPage(page, view), { ...shown, self: paths.verifyEmail });
  }

  /** A new code, where an address waits for one. */
  async function resend(visit: Visit): Promise<Shown> {
    const sent = { notice: "CODE_SENT" } as const;
    const newcomer = newcomerOf(visit);
    const user = newcomer ?? (await advance.sessionOf(visit))?.user;
    if (user === undefined) return sent;
    const { instanceId } = visit.at;
    const message = newcomer === undefined ? "email.verification" : "registration";
    if (!(await mayTell({ instanceId, userId: user.id }, message))) {
      return { problems: [{ code: "RATE_LIMITED" }] };
    }
    if (newcomer === undefined) {
      const request = { id: user.id, code: { delivery: { case: "sendCode", value: {} } } } as const;
      await call(UserService.method.resendContactEmailCode, request, visit.asService());
    } else await ask(visit, newcomer);
    return sent;
  }

  /** The address was mistyped: another one takes its place, with a code of its own. */
  async function correct(visit: Visit, newcomer: Newcomer, email: string): Promise<LoginAnswer> {
    if (!isAddress(email)) {
      return visit.again({ problems: [{ code: "FIELD_INVALID", field: "email" }] });
    }
    const { givenName, familyName } = newcomer;
    await always(() => ask(visit, { givenName, familyName, email }));
    return visit.go(paths.verifyEmail, { notice: "CODE_SENT" });
  }

  async function verify(visit: Visit): Promise<readonly Problem[]> {
    const code = valueOf(visit, "code");
    if (code === "") return wrongCode;
    const newcomer = newcomerOf(visit);
    return newcomer === undefined
      ? verifyOfUser(visit, code)
      : verifyNewcomer(visit, newcomer, code);
  }

  async function verifyNewcomer(visit: Visit, newcomer: Newcomer, code: string) {
    const tried = { id: newcomer.id, address: newcomer.email, code };
    if (!(await newcomers.prove(writing(visit, "system:login"), tried))) return wrongCode;
    await visit.save({ ...visit.flow.data, newcomer: { ...newcomer, isProven: true } });
    return [];
  }

  async function verifyOfUser(visit: Visit, verificationCode: string) {
    const { user } = (await advance.sessionOf(visit)) ?? {};
    if (user === undefined) return wrongCode;
    try {
      const request = { id: user.id, verificationCode };
      await call(UserService.method.verifyContactEmail, request, asUser(visit, user));
    } catch (error) {
      toProblems(error);
      return wrongCode;
    }
    const { mustVerifyEmail: _, ...rest } = visit.flow.data;
    await visit.save(rest);
    return [];
  }

  return [
    {
      path: paths.register,
      async get(visit) {
        if (!visit.hasFlow) await visit.save({ begin: "create" });
        await requireAllowed(visit);
        return show(visit);
      },
      async post(visit) {
        await requireAllowed(visit);
        const typed = typedIn(visit);
        const problems = problemsIn(visit, typed.email);
        if (problems.length > 0) return visit.again({ problems });
        // Whoever was about to log in here registers instead.
        const { sessionId: _, ...rest } = visit.flow.data;
        await visit.save(rest);
        await always(() => ask(visit, typed));
        return visit.go(paths.verifyEmail);
      },
    },
    {
      path: paths.verifyEmail,
      get: (visit) => showVerify(visit, noticeOf(visit)),
      async post(visit) {
        const newcomer = newcomerOf(visit);
        if (newcomer !== undefined) await requireAllowed(visit);
        if (valueOf(visit, "resend") !== "") {
          return visit.again(await always(() => resend(visit)));
        }
        const email = valueOf(visit, "email");
        if (newcomer !== undefined && email !== "") return correct(visit, newcomer, email);
        const problems = await always(() => verify(visit));
        if (problems.length > 0) return visit.again({ problems });
        return newcomer === undefined ? advance.next(visit) : visit.go(paths.registerAccount);
      },
    },
  ];
}

/** Who is registering in the flow; whoever has logged in meanwhile is not. */
export const newcomerOf = ({ flow: { data } }: Visit): Newcomer | undefined =>
  data.sessionId === undefined ? data.newcomer : undefined;

function problemsIn(visit: Visit, email: string): readonly Problem[] {
  const missing = ["given_name", "family_name", "email"].filter(
    (name) => valueOf(visit, name) === "",
  );
  if (missing.length > 0) return missing.map((field) => ({ code: "FIELD_MISSING", field }));
  return isAddress(email) ? [] : [{ code: "FIELD_INVALID", field: "email" }];
}
