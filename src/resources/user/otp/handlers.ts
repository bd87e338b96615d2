import type { SetEmail, SetPhone } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { requireHeld, requireRoom, requireUnverified } from "../authenticator/authenticators.ts";
import { changingUser } from "../change.ts";
import { otpRegistration } from "../code-kinds.ts";
import { codeInvalid } from "../codes.ts";
import type { Channel } from "../notice.ts";
import type { ContactKind } from "../contact.ts";
import { toWantedContact, type WantedContact } from "../convert.ts";
import type { Credentials } from "../credentials.ts";
import { type UserEvent, userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { requireVouching } from "../vouch.ts";
import { announced, otpKinds } from "./otp.ts";

type Facts = {
  added(id: string, address: string): UserEvent;
  verified(id: string): UserEvent;
};

const facts: Record<Channel, Facts> = {
  sms: {
    added: (otpSmsId, number) => userEvents["human.mfa.otp.sms.added"]({ otpSmsId, number }),
    verified: (otpSmsId) => userEvents["human.mfa.otp.sms.verified"]({ otpSmsId }),
  },
  email: {
    added: (otpEmailId, address) =>
      userEvents["human.mfa.otp.email.added"]({ otpEmailId, address }),
    verified: (otpEmailId) => userEvents["human.mfa.otp.email.verified"]({ otpEmailId }),
  },
};

export function otpHandlers({ deps, codes }: Credentials) {
  const change = changingUser(deps);

  const add = (scope: Scope, id: string, channel: Channel, wanted: WantedContact) =>
    change(scope, id, async ({ tx, ref, state, record }) => {
      const { added, verified } = facts[channel];
      const { address, proof, urlTemplate } = wanted;
      requirePerson(state);
      if (proof !== "sent") requireVouching(scope, { ...state, userId: id });
      requireRoom(state.authenticators, otpKinds[channel]);
      const otpId = deps.newId();
      record([added(otpId, address)]);
      if (proof === "known") {
        record([verified(otpId)]);
        return { otpId, code: undefined };
      }
      const code = await codes.issue(tx, ref, otpRegistration(channel), {
        subject: otpId,
        delivery: proof === "returned" ? proof : { channel, urlTemplate },
      });
      record([announced(channel)]);
      return { otpId, code };
    });

  async function verify(scope: Scope, id: string, channel: Channel, subject: string, code: string) {
    const { isRight, ...answer } = await change(scope, id, async ({ tx, ref, state, record }) => {
      requireUnverified(requireHeld(state.authenticators, otpKinds[channel], subject));
      const spent = await codes.spend(tx, ref, otpRegistration(channel), { code, subject });
      if (spent !== undefined) record([facts[channel].verified(subject)]);
      return { isRight: spent !== undefined };
    });
    if (!isRight) throw codeInvalid("code");
    return answer;
  }

  return {
    async addOTPSMSAuthenticator({ id, phone }, scope) {
      const { otpId: otpSmsId, ...response } = await add(
        scope,
        id,
        "sms",
        required("phone", phone),
      );
      return { ...response, otpSmsId };
    },
    verifyOTPSMSRegistration: ({ id, otpSmsId, code }, scope) =>
      verify(scope, id, "sms", otpSmsId, code),
    async addOTPEmailAuthenticator({ id, email }, scope) {
      const wanted = required("email", email);
      const { otpId: otpEmailId, ...response } = await add(scope, id, "email", wanted);
      return { ...response, otpEmailId };
    },
    verifyOTPEmailRegistration: ({ id, otpEmailId, code }, scope) =>
      verify(scope, id, "email", otpEmailId, code),
  } satisfies Partial<Handlers<typeof UserService>>;
}

function required(kind: ContactKind, wanted: SetEmail | SetPhone | undefined): WantedContact {
  if (wanted === undefined) throw new Error("validation requires the address");
  return toWantedContact(kind, wanted);
}
