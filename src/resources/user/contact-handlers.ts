import type {
  ResendEmailCode,
  ResendPhoneCode,
} from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { changingUser, type UserInUnit } from "./change.ts";
import { codeInvalid } from "./codes.ts";
import { channelOf, codeKinds, issueCode, setContact } from "./contact-change.ts";
import {
  addressOf,
  changeContact,
  type ContactKind,
  failContact,
  requireUnproven,
  verifyContact,
} from "./contact.ts";
import type { Credentials } from "./credentials.ts";
import { toDelivery, toWantedContact, type WantedContact } from "./convert.ts";
import { callerId } from "../../authz/tenancy.ts";
import type { Reach, UserEvent } from "./events.ts";
import { tellNews } from "./notice.ts";
import { requireThere, type User } from "./user.ts";
import { requireVouching } from "./vouch.ts";

type Asked = ResendEmailCode["delivery"] | ResendPhoneCode["delivery"] | undefined;

export function contactHandlers({ deps, codes }: Credentials) {
  const { newId } = deps;
  const change = changingUser(deps);

  const set = (scope: Scope, id: string, wanted: WantedContact) =>
    change(scope, id, async (one) => {
      const { state, loaded } = one;
      const { kind } = wanted;
      const former = addressOf(state, kind);
      const verificationCode = await setContact(codes, one, wanted, scope);
      const isOther = addressOf(requireThere(loaded.state), kind) !== former;
      if (state[kind]?.isVerified === true && isOther) tellFormer(one, newId, kind, former);
      return { verificationCode };
    });

  async function verify(scope: Scope, id: string, kind: ContactKind, code: string) {
    const { isProven, ...answer } = await change(scope, id, async (one) => {
      const { tx, ref, state, record } = one;
      const former = addressOf(state, kind) ?? "";
      const subject = (await codes.subjectOf(ref, codeKinds[kind])) ?? former;
      const isChange = subject !== former && state[kind]?.isVerified === true;
      if (!isChange) requireUnproven(state, kind);
      const right = await codes.spend(tx, ref, codeKinds[kind], { code, subject });
      record(judged(state, kind, { isChange, subject, right }));
      if (isChange && right !== undefined) tellFormer(one, newId, kind, former);
      return { isProven: right !== undefined };
    });
    if (!isProven) throw codeInvalid("verification_code");
    return answer;
  }

  const resend = (scope: Scope, id: string, kind: ContactKind, asked: Asked) =>
    change(scope, id, async (one) => {
      const { state } = one;
      const pending = await codes.subjectOf(one.ref, codeKinds[kind]);
      const former = addressOf(state, kind);
      const isOwn = state[kind]?.isVerified === true && callerId(scope) === id;
      const isChange = isOwn && pending !== undefined && pending !== former;
      if (!isChange) requireUnproven(state, kind);
      const address = isChange ? pending : (former ?? "");
      const delivery = toDelivery(channelOf[kind], asked);
      const about = { ...state, userId: id };
      const { reach } = delivery === "returned" ? requireVouching(scope, about) : {};
      const wanted = { address, delivery, reach };
      return { verificationCode: await issueCode(codes, one, kind, wanted) };
    });

  return {
    async setContactEmail({ id, email }, scope) {
      if (email === undefined) throw new Error("validation requires the email");
      return set(scope, id, toWantedContact("email", email));
    },
    async setContactPhone({ id, phone }, scope) {
      if (phone === undefined) throw new Error("validation requires the phone");
      return set(scope, id, toWantedContact("phone", phone));
    },
    verifyContactEmail: ({ id, verificationCode }, scope) =>
      verify(scope, id, "email", verificationCode),
    verifyContactPhone: ({ id, verificationCode }, scope) =>
      verify(scope, id, "phone", verificationCode),
    resendContactEmailCode: ({ id, code }, scope) => resend(scope, id, "email", code?.delivery),
    resendContactPhoneCode: ({ id, code }, scope) => resend(scope, id, "phone", code?.delivery),
  } satisfies Partial<Handlers<typeof UserService>>;
}

/** What a code that was tried proves: an address that takes the place of another one, the one that is there, or none. */
function judged(
  state: User,
  kind: ContactKind,
  { isChange, subject, right }: { isChange: boolean; subject: string; right: Reach | undefined },
): UserEvent[] {
  if (right === undefined) return failContact(kind);
  return isChange
    ? changeContact(state, kind, { address: subject, isVerified: true, proof: "code" })
    : verifyContact(kind, right);
}

/** Where the user was reached until now, they are told that it counts no more. */
function tellFormer(
  { tx, ref }: UserInUnit,
  newId: () => string,
  kind: ContactKind,
  former = "",
): void {
  const news = kind === "email" ? "email.changed" : "phone.changed";
  tellNews(tx, newId, ref, { news, former }, channelOf[kind]);
}
