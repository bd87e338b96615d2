import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { DomainError } from "../../errors.ts";
import type { Problem } from "../../login/page.ts";
import { missingIn, type Route, valueOf } from "../../login/route.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { type ContactKind, contactPage, contactsPage } from "../pages/contact.ts";
import { accountPaths } from "../paths.ts";
import { tried } from "../problems.ts";

const { method } = UserService;
const sendCode = { case: "sendCode", value: {} } as const;

/** E-mail address and phone number: another one counts once its code was typed. */
export function contactRoutes(parts: AccountParts): Route[] {
  return [
    ownRoute(parts, {
      path: accountPaths.contact,
      async get(own) {
        const view = await knownTo(own);
        return own.show((page) => contactsPage(page, view));
      },
    }),
    contactRoute(parts, "email"),
    contactRoute(parts, "phone"),
  ];
}

async function knownTo({ call, user: { id } }: Own) {
  const { user } = await call(method.getUser, { id });
  const { email, phone } = user?.user?.contact ?? {};
  return {
    ...(email && { email: { address: email.address, isVerified: email.isVerified } }),
    ...(phone && { phone: { address: phone.number, isVerified: phone.isVerified } }),
  };
}

function contactRoute(parts: AccountParts, kind: ContactKind): Route {
  const path = accountPaths[kind];

  /** Sets another one: a code goes there. */
  async function set(own: Own, address: string): Promise<LoginAnswer> {
    const { id } = own.user;
    const problems = await tried(
      () =>
        kind === "email"
          ? own.call(method.setContactEmail, { id, email: { address, verification: sendCode } })
          : own.call(method.setContactPhone, {
              id,
              phone: { number: address, verification: sendCode },
            }),
      ["address"],
    );
    if (problems.length > 0) {
      return own.context.again({ problems: problems.map((each) => asInvalid(each, kind)) });
    }
    await own.keep({ contact: { kind, address } });
    return own.context.go(path);
  }

  /** Sends another code, to where the last one was sent, or to the one that is unproven. */
  async function resend(own: Own): Promise<LoginAnswer> {
    const { id } = own.user;
    const known = (await knownTo(own))[kind];
    const address = sentTo(own) ?? known?.address;
    if (address === undefined) return own.done(path);
    if (address !== known?.address) return set(own, address);
    const code = { delivery: sendCode };
    const problems = await tried(() =>
      kind === "email"
        ? own.call(method.resendContactEmailCode, { id, code })
        : own.call(method.resendContactPhoneCode, { id, code }),
    );
    if (problems.length > 0) return own.context.again({ problems });
    await own.keep({ contact: { kind, address } });
    return own.context.again({ notice: "CODE_SENT" });
  }

  async function verify(own: Own): Promise<LoginAnswer> {
    const missing = missingIn(own.context, ["code"]);
    if (missing.length > 0) return own.context.again({ problems: missing });
    const request = { id: own.user.id, verificationCode: valueOf(own.context, "code") };
    const problems = await tried(() =>
      kind === "email"
        ? own.call(method.verifyContactEmail, request)
        : own.call(method.verifyContactPhone, request),
    ).catch(gone);
    if (problems.length === 0) return own.done(accountPaths.contact, "CONTACT_CONFIRMED");
    const known = problems.map(({ code }) =>
      code === "RATE_LIMITED" ? { code } : ({ code: "CODE_INVALID", field: "code" } as const),
    );
    return own.context.again({ problems: known });
  }

  const sentTo = ({ work }: Own) =>
    work?.contact?.kind === kind ? work.contact.address : undefined;

  return ownRoute(parts, {
    path,
    async get(own) {
      const known = (await knownTo(own))[kind];
      const typed = own.context.form.get("address");
      const view = { kind, known, typed, sentTo: sentTo(own) };
      return own.show((page) => contactPage(page, view));
    },
    async post(own) {
      if (valueOf(own.context, "send") !== "") return resend(own);
      if (own.context.form.has("code")) return verify(own);
      const missing = missingIn(own.context, ["address"]);
      if (missing.length > 0) return own.context.again({ problems: missing });
      return set(own, typedAs(kind, valueOf(own.context, "address")));
    },
  });
}

/** Of a code that is gone already nothing is left to prove. */
function gone(error: unknown): readonly Problem[] {
  if (error instanceof DomainError && error.kind === "failedPrecondition") {
    return [{ code: "CODE_INVALID" }];
  }
  throw error;
}

/** Numbers are typed with spaces and signs between their digits. */
const typedAs = (kind: ContactKind, typed: string): string =>
  kind === "email" ? typed : typed.replaceAll(/[\s().-]/g, "").replace(/^00/, "+");

/** What is wrong with an address is that it is none, unless too many codes were asked for. */
const asInvalid = ({ code }: Problem, kind: ContactKind): Problem => {
  if (code === "RATE_LIMITED") return { code, field: "address" };
  return { code: kind === "email" ? "EMAIL_INVALID" : "PHONE_INVALID", field: "address" };
};
