import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { asUser } from "./as-user.ts";
import type { Problem } from "./page.ts";
import type { VerifyEmailView } from "./pages/verify-email.ts";
import { isAddress } from "./registration.ts";
import { type RouteParts, toProblems, valueOf } from "./route.ts";
import type { PageContext, Shown } from "./page-context.ts";

const wrongCode = [{ code: "CODE_INVALID", field: "code" }] as const;

/** The proof of the e-mail address of an account, while its user logs in. */
export type AccountEmail = {
  /** What its page shows; undefined where nothing is to be proven at this step of the flow. */
  view(context: PageContext): Promise<VerifyEmailView | undefined>;
  /** Sends a code, to the address as it is. */
  send(context: PageContext): Promise<Shown>;
  /** Another address takes the place of one that was given in this flow and never proven. */
  correct(context: PageContext, email: string): Promise<readonly Problem[]>;
  verify(context: PageContext, code: string): Promise<readonly Problem[]>;
  /** Goes on without the proof, where it is not demanded. */
  skip(context: PageContext): Promise<void>;
};

export function accountEmail(parts: RouteParts): AccountEmail {
  const { advance, call, mayTell, users } = parts;

  const userOf = async (context: PageContext) => (await advance.sessionOf(context))?.user;

  return {
    async view(context) {
      const { mustVerifyEmail = false, email, emailAsked } = context.flow.data;
      const user = await userOf(context);
      if (user === undefined || (await advance.stepOf(context)) !== "verifyEmail") return undefined;
      const address = await users.unprovenEmail(context.at.instanceId, user.id);
      const other = mustVerifyEmail ? valueOf(context, "email") || email : undefined;
      return {
        address: address ?? email ?? "",
        isSent: mustVerifyEmail || emailAsked === "sent",
        canSkip: !mustVerifyEmail,
        ...(other === undefined ? {} : { other }),
      };
    },

    async send(context) {
      const user = await userOf(context);
      if (user === undefined) return { notice: "CODE_SENT" };
      await context.save({ ...context.flow.data, emailAsked: "sent" });
      const { instanceId } = context.at;
      if (!(await mayTell({ instanceId, userId: user.id }, "email.verification"))) {
        return { problems: [{ code: "RATE_LIMITED" }] };
      }
      const request = { id: user.id, code: { delivery: { case: "sendCode", value: {} } } } as const;
      await call(UserService.method.resendContactEmailCode, request, context.asService());
      return { notice: "CODE_SENT" };
    },

    async correct(context, email) {
      const user = await userOf(context);
      const { data } = context.flow;
      if (user === undefined || data.mustVerifyEmail !== true) return [];
      if (!isAddress(email)) return [{ code: "EMAIL_INVALID", field: "email" }];
      const { instanceId } = context.at;
      if (!(await mayTell({ instanceId, userId: user.id }, "email.verification"))) {
        return [{ code: "RATE_LIMITED" }];
      }
      const changed = { address: email, verification: { case: "sendCode", value: {} } } as const;
      try {
        const request = { id: user.id, email: changed };
        await call(UserService.method.setContactEmail, request, asUser(context, user));
      } catch (error) {
        return toProblems(error);
      }
      await context.save({ ...data, email });
      return [];
    },

    async verify(context, verificationCode) {
      const user = await userOf(context);
      if (user === undefined) return wrongCode;
      try {
        const request = { id: user.id, verificationCode };
        await call(UserService.method.verifyContactEmail, request, asUser(context, user));
      } catch (error) {
        toProblems(error);
        return wrongCode;
      }
      const { mustVerifyEmail: _, emailAsked: __, ...rest } = context.flow.data;
      await context.save(rest);
      return [];
    },

    async skip(context) {
      await context.save({ ...context.flow.data, emailAsked: "over" });
    },
  };
}
