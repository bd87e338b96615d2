import { UserVerificationRequirement } from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import { constantTime } from "../../constant-time.ts";
import { hostName } from "../../authz/host.ts";
import { emailCodePage } from "../pages/email-code.ts";
import { type Factor, mfaPage } from "../pages/mfa.ts";
import { recoveryCodePage } from "../pages/recovery-code.ts";
import { smsCodePage } from "../pages/sms-code.ts";
import { totpPage } from "../pages/totp.ts";
import { paths } from "../paths.ts";
import { challengeIn, proveInSession } from "../prove.ts";
import { problemsOf, requireSession, type Route, type RouteParts, valueOf } from "../route.ts";
import type { LoginSession } from "../sessions.ts";
import { PageRefused, type Visit } from "../visit.ts";
import { masked } from "../people.ts";
import type { LoginAnswer } from "../web.ts";

type OfferedFactors = { factors: readonly Factor[]; isPasskeyAsked: boolean };
type CodeFactor = Exclude<Factor, "passkey">;

const pathOf: Readonly<Record<Factor, string>> = {
  totp: paths.totp,
  email: paths.emailCode,
  sms: paths.smsCode,
  recovery: paths.recoveryCode,
  passkey: paths.passkey,
};

/** The second factors: which one, and a page for each that is a code. */
export function secondFactorRoutes(parts: RouteParts): Route[] {
  const { refusals } = constantTime(50);
  const { advance, people } = parts;

  /** Makes ready what the factor needs: a code that is sent, a key that is asked. */
  async function begin(
    visit: Visit,
    { id }: LoginSession,
    factor: Factor,
    isPasskeyDue = false,
  ): Promise<void> {
    if (factor === "email") await challengeIn(parts, visit, id, { otpEmail: {} });
    if (factor === "sms") await challengeIn(parts, visit, id, { otpSms: {} });
    if (factor !== "passkey") return;
    const domain = hostName(new URL(visit.at.issuer).host);
    // What asks for a passkey wants it to verify its user.
    const { REQUIRED, UNSPECIFIED } = UserVerificationRequirement;
    const userVerificationRequirement = isPasskeyDue ? REQUIRED : UNSPECIFIED;
    const webAuthN = { domain, userVerificationRequirement };
    const asked = await challengeIn(parts, visit, id, { webAuthN });
    const options = asked?.webAuthN?.publicKeyCredentialRequestOptions ?? {};
    await visit.save({ ...visit.flow.data, key: { options } });
  }

  /** What the page offers: the passkey alone where the application asks for one. */
  async function offered(visit: Visit): Promise<OfferedFactors> {
    const isPasskeyAsked = (await advance.dueOf(visit)) === "passkey";
    return { factors: isPasskeyAsked ? ["passkey"] : await factorsOf(visit), isPasskeyAsked };
  }

  async function factorsOf(visit: Visit): Promise<readonly Factor[]> {
    return (await advance.progressOf(visit)).factors;
  }

  async function choose(visit: Visit, factor: Factor): Promise<LoginAnswer> {
    const session = await requireSession(parts, visit);
    const { factors, isPasskeyAsked } = await offered(visit);
    if (!factors.includes(factor)) throw new PageRefused("FLOW_NOT_FOUND", 400);
    await begin(visit, session, factor, isPasskeyAsked);
    return visit.go(pathOf[factor]);
  }

  async function showCode(visit: Visit, factor: CodeFactor): Promise<LoginAnswer> {
    const { user } = await requireSession(parts, visit);
    const account = await people.account(visit.at.instanceId, user.id);
    const hasOthers = (await factorsOf(visit)).length > 1;
    const channel = factor === "sms" ? factor : "email";
    const sentTo = await people.otpAddress(visit.at.instanceId, user.id, channel);
    const address = masked(sentTo ?? "");
    const view = { account, hasOthers };
    return visit.show(
      (page) => {
        if (factor === "totp") return totpPage(page, view);
        if (factor === "email") return emailCodePage(page, { ...view, address });
        if (factor === "sms") return smsCodePage(page, { ...view, phone: address });
        return recoveryCodePage(page, view);
      },
      { self: pathOf[factor] },
    );
  }

  const codeRoute = (factor: CodeFactor): Route => ({
    path: pathOf[factor],
    get: (visit) => showCode(visit, factor),
    async post(visit) {
      const session = await requireSession(parts, visit);
      if (valueOf(visit, "resend") !== "") {
        await begin(visit, session, factor);
        return visit.again({ notice: "CODE_SENT" });
      }
      const code = valueOf(visit, "code").replaceAll(" ", "");
      if (code === "") {
        return visit.again({ problems: [{ code: "FIELD_MISSING", field: "code" }] });
      }
      const check = {
        totp: { totp: { code } },
        email: { otpEmail: { code } },
        sms: { otpSms: { code } },
        recovery: { recoveryCode: { code } },
      }[factor];
      const proved = await refusals(() => proveInSession(parts, visit, session.id, check));
      if (proved.isRight) return advance.next(visit);
      return visit.again({ problems: [{ code: "CODE_INVALID", field: "code" }] });
    },
  });

  return [
    {
      path: paths.mfa,
      async get(visit) {
        const { user } = await requireSession(parts, visit);
        const { factors, isPasskeyAsked } = await offered(visit);
        const [only, ...others] = factors;
        // Codes that are sent are asked for by a form alone.
        if (only === "totp" && others.every((factor) => factor === "recovery")) {
          return visit.go(paths.totp);
        }
        const account = await people.account(visit.at.instanceId, user.id);
        return visit.show((page) => mfaPage(page, { account, factors, isPasskeyAsked }), {
          ...problemsOf(visit),
          self: paths.mfa,
        });
      },
      async post(visit) {
        if (valueOf(visit, "without") === "passkey") {
          await visit.save({ ...visit.flow.data, isWithoutPasskey: true });
          return advance.next(visit);
        }
        const wanted = valueOf(visit, "factor");
        const factor = (await offered(visit)).factors.find((one) => one === wanted);
        return factor === undefined ? visit.go(paths.mfa) : choose(visit, factor);
      },
    },
    codeRoute("totp"),
    codeRoute("email"),
    codeRoute("sms"),
    codeRoute("recovery"),
  ];
}
