import type {
  ResendEmailCode,
  ResendPhoneCode,
} from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { toDetails } from "../object/details.ts";
import { codeInvalid, type Delivery } from "./codes.ts";
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
import { toWantedContact, type WantedContact } from "./convert.ts";
import { callerId } from "../../authz/tenancy.ts";
import type { Reach, UserEvent } from "./events.ts";
import { tellNews } from "./notice.ts";
import { type User, user, userNotFound } from "./user.ts";
import { requireVouching } from "./vouch.ts";

export type ContactMethods =
  | "setContactEmail"
  | "verifyContactEmail"
  | "resendContactEmailCode"
  | "setContactPhone"
  | "verifyContactPhone"
  | "resendContactPhoneCode";

type Asked = ResendEmailCode["delivery"] | ResendPhoneCode["delivery"] | undefined;

function deliveryOf(kind: ContactKind, asked: Asked): Delivery {
  if (asked?.case === "returnCode") return "returned";
  const urlTemplate =
    asked?.value !== undefined && "urlTemplate" in asked.value
      ? asked.value.urlTemplate
      : undefined;
  return { channel: channelOf[kind], urlTemplate };
}

export function contactHandlers({
  deps,
  codes,
}: Credentials): Pick<Handlers<typeof UserService>, ContactMethods> {
  const { events, newId } = deps;

  async function set(scope: Scope, id: string, wanted: WantedContact) {
    const [written, verificationCode] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      if (loaded.state === undefined) throw userNotFound();
      const { [wanted.kind]: earlier } = loaded.state;
      const former = addressOf(loaded.state, wanted.kind);
      const code = await setContact(codes, tx, loaded, wanted, { scope });
      if (earlier?.isVerified === true && addressOf(loaded.state, wanted.kind) !== former) {
        tellFormer(tx, newId, { instanceId: scope.instanceId, userId: id }, wanted.kind, former);
      }
      return [tx.written(loaded), code];
    });
    return { details: toDetails(written()), ...(verificationCode && { verificationCode }) };
  }

  async function verify(scope: Scope, id: string, kind: ContactKind, code: string) {
    const [written, isRight] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      if (loaded.state === undefined) throw userNotFound();
      const at = { instanceId: scope.instanceId, userId: id };
      const former = addressOf(loaded.state, kind) ?? "";
      const subject = (await codes.subjectOf(at, codeKinds[kind])) ?? former;
      const isChange = subject !== former && loaded.state[kind]?.isVerified === true;
      if (!isChange) requireUnproven(loaded.state, kind);
      const right = await codes.spend(tx, at, codeKinds[kind], { code, subject });
      const isProven = right !== undefined;
      tx.record(user, loaded, judged(loaded.state, kind, { isChange, subject, right }));
      if (isChange && isProven) tellFormer(tx, newId, at, kind, former);
      return [tx.written(loaded), isProven];
    });
    if (!isRight) throw codeInvalid("verification_code");
    return { details: toDetails(written()) };
  }

  async function resend(scope: Scope, id: string, kind: ContactKind, asked: Asked) {
    const [written, verificationCode] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await tx.load(user, id);
      if (loaded.state === undefined) throw userNotFound();
      const at = { instanceId: scope.instanceId, userId: id };
      const pending = await codes.subjectOf(at, codeKinds[kind]);
      const former = addressOf(loaded.state, kind);
      const isOwn = loaded.state[kind]?.isVerified === true && callerId(scope) === id;
      const isChange = isOwn && pending !== undefined && pending !== former;
      if (!isChange) requireUnproven(loaded.state, kind);
      const address = isChange ? pending : (former ?? "");
      const delivery = deliveryOf(kind, asked);
      const about = { ...loaded.state, userId: id };
      const { reach } = delivery === "returned" ? requireVouching(scope, about) : {};
      const code = await issueCode(codes, tx, loaded, kind, {
        instanceId: scope.instanceId,
        address,
        delivery,
        reach,
      });
      return [tx.written(loaded), code];
    });
    return { details: toDetails(written()), ...(verificationCode && { verificationCode }) };
  }

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
  };
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
  tx: Transaction,
  newId: () => string,
  of: { instanceId: string; userId: string },
  kind: ContactKind,
  former = "",
): void {
  const news = kind === "email" ? "email.changed" : "phone.changed";
  tellNews(tx, newId, of, { news, former }, channelOf[kind]);
}
