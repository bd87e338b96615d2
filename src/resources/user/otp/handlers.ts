import type { SetEmail, SetPhone } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { toDetails } from "../../object/details.ts";
import { requireHeld, requireRoom, requireUnverified } from "../authenticator/authenticators.ts";
import { otpRegistration } from "../code-kinds.ts";
import { codeInvalid } from "../codes.ts";
import type { Channel } from "../notice.ts";
import { toWantedContact, type WantedContact } from "../convert.ts";
import type { Credentials } from "../credentials.ts";
import { type UserEvent, userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { user, userNotFound } from "../user.ts";
import { requireVouching } from "../vouch.ts";
import { announced, otpKinds } from "./otp.ts";

export type OtpMethods =
  | "addOTPSMSAuthenticator"
  | "verifyOTPSMSRegistration"
  | "removeOTPSMSAuthenticator"
  | "addOTPEmailAuthenticator"
  | "verifyOTPEmailRegistration"
  | "removeOTPEmailAuthenticator";

type Facts = {
  added(id: string, address: string): UserEvent;
  verified(id: string): UserEvent;
  removed(id: string): UserEvent;
};

const facts: Record<Channel, Facts> = {
  sms: {
    added: (otpSmsId, number) => userEvents["human.mfa.otp.sms.added"]({ otpSmsId, number }),
    verified: (otpSmsId) => userEvents["human.mfa.otp.sms.verified"]({ otpSmsId }),
    removed: (otpSmsId) => userEvents["human.mfa.otp.sms.removed"]({ otpSmsId }),
  },
  email: {
    added: (otpEmailId, address) =>
      userEvents["human.mfa.otp.email.added"]({ otpEmailId, address }),
    verified: (otpEmailId) => userEvents["human.mfa.otp.email.verified"]({ otpEmailId }),
    removed: (otpEmailId) => userEvents["human.mfa.otp.email.removed"]({ otpEmailId }),
  },
};

export function otpHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, OtpMethods> {
  const { deps, codes } = credentials;
  const { events, newId } = deps;

  async function add(scope: Scope, id: string, channel: Channel, wanted: WantedContact) {
    const { added, verified } = facts[channel];
    const { address, proof, urlTemplate } = wanted;
    const [written, otpId, code] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      requirePerson(loaded.state);
      if (proof !== "sent") requireVouching(scope, { ...loaded.state, userId: id });
      requireRoom(loaded.state.authenticators, otpKinds[channel]);
      const made = newId();
      tx.record(user, loaded, [added(made, address)]);
      if (proof === "known") {
        tx.record(user, loaded, [verified(made)]);
        return [tx.written(loaded), made, undefined];
      }
      const at = { instanceId: scope.instanceId, userId: id };
      const issued = await codes.issue(tx, at, otpRegistration(channel), {
        subject: made,
        delivery: proof === "returned" ? proof : { channel, urlTemplate },
      });
      tx.record(user, loaded, [announced(channel)]);
      return [tx.written(loaded), made, issued];
    });
    return { details: toDetails(written()), otpId, ...(code === undefined ? {} : { code }) };
  }

  async function verify(
    scope: Scope,
    id: string,
    channel: Channel,
    tried: { otpId: string; code: string },
  ) {
    const { otpId: subject, code } = tried;
    const [written, isRight] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      if (loaded.state === undefined) throw userNotFound();
      requireUnverified(requireHeld(loaded.state.authenticators, otpKinds[channel], subject));
      const at = { instanceId: scope.instanceId, userId: id };
      const spent = await codes.spend(tx, at, otpRegistration(channel), { code, subject });
      const right = spent !== undefined;
      if (right) tx.record(user, loaded, [facts[channel].verified(subject)]);
      return [tx.written(loaded), right];
    });
    if (!isRight) throw codeInvalid("code");
    return { details: toDetails(written()) };
  }

  return {
    async addOTPSMSAuthenticator({ id, phone }, scope) {
      const { otpId: otpSmsId, ...response } = await add(scope, id, "sms", required(phone, "sms"));
      return { ...response, otpSmsId };
    },
    verifyOTPSMSRegistration: ({ id, otpSmsId: otpId, code }, scope) =>
      verify(scope, id, "sms", { otpId, code }),
    removeOTPSMSAuthenticator: ({ id, otpSmsId }, scope) =>
      remove(events, scope, id, "sms", otpSmsId),
    async addOTPEmailAuthenticator({ id, email }, scope) {
      const { otpId: otpEmailId, ...response } = await add(
        scope,
        id,
        "email",
        required(email, "email"),
      );
      return { ...response, otpEmailId };
    },
    verifyOTPEmailRegistration: ({ id, otpEmailId: otpId, code }, scope) =>
      verify(scope, id, "email", { otpId, code }),
    removeOTPEmailAuthenticator: ({ id, otpEmailId }, scope) =>
      remove(events, scope, id, "email", otpEmailId),
  };
}

async function remove(
  events: Deps["events"],
  scope: Scope,
  id: string,
  channel: Channel,
  otpId: string,
) {
  const written = await events.transact(writeContext(scope), async (tx) => {
    const loaded = await tx.load(user, id);
    if (loaded.state === undefined) throw userNotFound();
    requireHeld(loaded.state.authenticators, otpKinds[channel], otpId);
    tx.record(user, loaded, [facts[channel].removed(otpId)]);
    return tx.written(loaded);
  });
  return { details: toDetails(written()) };
}

const required = (wanted: SetEmail | SetPhone | undefined, channel: Channel) => {
  if (wanted === undefined) throw new Error("validation requires the address");
  return toWantedContact(channel === "sms" ? "phone" : "email", wanted);
};
