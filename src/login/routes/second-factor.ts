import { UserVerificationRequirement } from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import { isByMailboxAlone } from "../../resources/session/index.ts";
import { constantTime } from "../../constant-time.ts";
import { hostName } from "../../authz/host.ts";
import { emailCodePage } from "../pages/email-code.ts";
import { type Factor, mfaPage } from "../pages/mfa.ts";
import { recoveryCodePage } from "../pages/recovery-code.ts";
import { smsCodePage } from "../pages/sms-code.ts";
import { totpPage } from "../pages/totp.ts";
import type { ProblemCode } from "../page.ts";
import { paths } from "../paths.ts";
import { challengeIn, proveInSession } from "../prove.ts";
import {
  missingIn,
  problemsOf,
  requireSession,
  type Route,
  type RouteParts,
  valueOf,
} from "../route.ts";
import type { LoginSession } from "../sessions.ts";
import type { PageContext } from "../page-context.ts";
import { trustIfSaid, trustOffered } from "../trust.ts";
import { masked } from "../users.ts";
import type { LoginAnswer } from "../web.ts";

type OfferedFactors = {
  factors: readonly Factor[];
  /** An application asks for a passkey, without which it goes on too. */
  isPasskeyAsked: boolean;
  isPasskeyDue: boolean;
};
type CodeFactor = Exclude<Factor, "passkey">;

const pathOf: Readonly<Record<Factor, string>> = {
  totp: paths.totp,
  email: paths.emailCode,
  sms: paths.smsCode,
  recovery: paths.recoveryCode,
  passkey: paths.passkey,
};

// Only codes that are sent can be asked for anew.
const wrongCodes = {
  totp: "TOTP_INVALID",
  email: "CODE_INVALID",
  sms: "CODE_INVALID",
  recovery: "RECOVERY_CODE_INVALID",
} as const satisfies Record<CodeFactor, ProblemCode>;

/** The second factors: which one, and a page for each that is a code. */
export function secondFactorRoutes(parts: RouteParts): Route[] {
  const { refusals } = constantTime(50);
  const { advance, users } = parts;

  const codeRoute = (factor: CodeFactor): Route => ({
    path: pathOf[factor],
    get: (context) => showCode(parts, context, factor),
    async post(context) {
      const session = await requireSession(parts, context);
      if (valueOf(context, "resend") !== "") {
        await begin(parts, context, session, factor);
        return context.again({ notice: "CODE_SENT" });
      }
      const code = valueOf(context, "code").replaceAll(" ", "");
      const missing = missingIn(context, ["code"]);
      if (missing.length > 0) return context.again({ problems: missing });
      const check = {
        totp: { totp: { code } },
        email: { otpEmail: { code } },
        sms: { otpSms: { code } },
        recovery: { recoveryCode: { code } },
      }[factor];
      const proved = await refusals(() => proveInSession(parts, context, session.id, check));
      if (proved.isRight) {
        if (factor !== "recovery") await trustIfSaid(parts, context, session.user.id);
        return advance.next(context);
      }
      return context.again({ problems: [{ code: wrongCodes[factor], field: "code" }] });
    },
  });

  return [
    {
      path: paths.mfa,
      async get(context) {
        const { user } = await requireSession(parts, context);
        const { factors, isPasskeyAsked } = await offered(parts, context);
        const [only, ...others] = factors;
        const wantsChoice = context.query.get("choose") === "true";
        // Codes that are sent are asked for by a form alone.
        const isTotpFirst = only === "totp" && others.every((factor) => factor === "recovery");
        if (isTotpFirst && !wantsChoice) return context.go(paths.totp);
        const account = await users.account(context.at.instanceId, user.id);
        const view = { account, factors, isPasskeyAsked };
        return context.show((page) => mfaPage(page, view), {
          ...problemsOf(context),
          self: wantsChoice ? paths.mfaChoice : paths.mfa,
        });
      },
      async post(context) {
        const isForAccount = context.flow.data.stepUp !== undefined;
        if (valueOf(context, "without") === "passkey" && !isForAccount) {
          await context.save({ ...context.flow.data, isWithoutPasskey: true });
          return advance.next(context);
        }
        const wanted = valueOf(context, "factor");
        const factor = (await offered(parts, context)).factors.find((one) => one === wanted);
        return factor === undefined ? context.go(paths.mfa) : choose(parts, context, factor);
      },
    },
    codeRoute("totp"),
    codeRoute("email"),
    codeRoute("sms"),
    codeRoute("recovery"),
  ];
}

/** Makes ready what the factor needs: a code that is sent, a key that is asked. */
async function begin(
  parts: RouteParts,
  context: PageContext,
  { id }: LoginSession,
  factor: Factor,
  isPasskeyDue = false,
): Promise<void> {
  if (factor === "email") await challengeIn(parts, context, id, { otpEmail: {} });
  if (factor === "sms") await challengeIn(parts, context, id, { otpSms: {} });
  if (factor !== "passkey") return;
  const domain = hostName(new URL(context.at.issuer).host);
  // What asks for a passkey wants it to verify its user.
  const { REQUIRED, UNSPECIFIED } = UserVerificationRequirement;
  const userVerificationRequirement = isPasskeyDue ? REQUIRED : UNSPECIFIED;
  const webAuthN = { domain, userVerificationRequirement };
  const asked = await challengeIn(parts, context, id, { webAuthN });
  const options = asked?.webAuthN?.publicKeyCredentialRequestOptions ?? {};
  await context.save({ ...context.flow.data, key: { options } });
}

/** What the page offers: the passkey alone where the application asks for one. */
async function offered(parts: RouteParts, context: PageContext): Promise<OfferedFactors> {
  const isPasskeyDue = (await parts.advance.dueOf(context)) === "passkey";
  const all = await factorsOf(parts, context);
  if (!isPasskeyDue) return { factors: all, isPasskeyAsked: false, isPasskeyDue };
  if (context.flow.data.stepUp === undefined) {
    return { factors: ["passkey"], isPasskeyAsked: true, isPasskeyDue };
  }
  // For a change to the account nothing weaker will do; a recovery code counts as much (L2).
  const recovery = all.filter((factor) => factor === "recovery");
  return { factors: ["passkey", ...recovery], isPasskeyAsked: false, isPasskeyDue };
}

async function choose(
  parts: RouteParts,
  context: PageContext,
  factor: Factor,
): Promise<LoginAnswer> {
  const session = await requireSession(parts, context);
  const { factors, isPasskeyDue } = await offered(parts, context);
  if (!factors.includes(factor)) return context.go(paths.mfa);
  await begin(parts, context, session, factor, isPasskeyDue);
  return context.go(pathOf[factor]);
}

async function showCode(
  parts: RouteParts,
  context: PageContext,
  factor: CodeFactor,
): Promise<LoginAnswer> {
  const { user } = await requireSession(parts, context);
  const account = await parts.users.account(context.at.instanceId, user.id);
  const hasOthers = (await offered(parts, context)).factors.length > 1;
  const channel = factor === "sms" ? factor : "email";
  const sentTo = await parts.users.otpAddress(context.at.instanceId, user.id, channel);
  const address = masked(sentTo ?? "");
  // A recovery code is for those who have lost something: nothing is trusted by it.
  const trust = factor === "recovery" ? undefined : await trustOffered(parts, context);
  const view = { account, hasOthers, trust };
  return context.show(
    (page) => {
      if (factor === "totp") return totpPage(page, view);
      if (factor === "email") return emailCodePage(page, { ...view, address });
      if (factor === "sms") return smsCodePage(page, { ...view, phone: address });
      return recoveryCodePage(page, { account, hasOthers });
    },
    { self: pathOf[factor] },
  );
}

/** One mailbox is one factor: to whoever was let in by theirs it is not offered again. */
async function factorsOf(
  { advance }: RouteParts,
  context: PageContext,
): Promise<readonly Factor[]> {
  const { factors, proofs } = await advance.progressOf(context);
  const isSameFactor = proofs !== undefined && isByMailboxAlone(proofs);
  return isSameFactor ? factors.filter((one) => one !== "email") : factors;
}
