import type { EventOf } from "../../eventstore/event.ts";
import { ownWork } from "../../eventstore/transaction.ts";
import type { RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { type AuthenticatorKind, authenticatorsOf } from "./authenticator/authenticators.ts";
import {
  type CodeKind,
  emailLogin,
  emailVerification,
  initialization,
  otpLogin,
  otpRegistration,
  passkeyRegistration,
  passwordReset,
  phoneVerification,
  registration,
} from "./code-kinds.ts";
import { createCodes } from "./codes.ts";
import { addressOf } from "./contact.ts";
import { createDenials, type Denials } from "./denial.ts";
import { accountOfAddress, type UserNamesReader, userNamesReader } from "./login-name.ts";
import { noticeEvents, userNotices } from "./notice-events.ts";
import { deniable, mayReadNews, type Newcomer, type News, type Notice } from "./notice.ts";
import { displayNameOf } from "./user-data.ts";
import { requireUser, type User, user } from "./user.ts";

/** What a message is about: its texts are found by this. */
export type NoticeTopic =
  | "initialization"
  | "email.verification"
  | "email.login"
  | "phone.verification"
  | "password.reset"
  | "passkey.registration"
  | "otp"
  | "registration"
  | News;

/** A notice as it is to be sent now. */
export type DueNotice = Pick<Notice, "channel" | "urlTemplate" | "sessionId"> & {
  topic: NoticeTopic;
  address: string;
  user: {
    id: string;
    organizationId: string;
    loginName: string;
    displayName: string;
    preferredLanguage: string | undefined;
  };
  code?: string;
  /** The id of the code, where it has one. */
  codeId?: string;
  /** The domain that the news are about. */
  domain?: string;
  /** The login name of the other user that the news are about. */
  account?: string;
  /** When it ends what the news are about. */
  endsAt?: Date;
  /** The browser, or the app, that the news are about. */
  browser?: string | undefined;
  app?: string | undefined;
};

type NoticeEvent = EventOf<typeof noticeEvents>;

type Coded = {
  kind: CodeKind;
  topic: NoticeTopic;
  address(state: User, notice: Notice, subject: string): string | undefined;
  sent: NoticeEvent;
};

const contact = (state: User, { channel }: Notice) =>
  addressOf(state, channel === "sms" ? "phone" : "email");
/** The contact, while it is the one that the code is about. */
const sameContact: Coded["address"] = (state, notice, subject) =>
  contact(state, notice) === subject ? subject : undefined;
/** What the code is about: the contact, or what takes its place once it is proven. Of a code that was dropped nothing is sent. */
const askedContact: Coded["address"] = (_, __, subject) => subject;
const authenticator =
  (kind: AuthenticatorKind): Coded["address"] =>
  ({ authenticators }, _, subject) =>
    authenticatorsOf(authenticators, kind).find(({ id }) => id === subject)?.address;

type SentCode = keyof typeof noticeEvents & `${string}.code.sent`;
const sentAs = (
  kind: CodeKind,
  topic: NoticeTopic,
  address: Coded["address"],
  sent: SentCode,
): Coded => ({ kind, topic, address, sent: noticeEvents[sent]({}) });

const coded: readonly Coded[] = [
  sentAs(initialization, "initialization", sameContact, "human.initialization.code.sent"),
  sentAs(emailVerification, "email.verification", askedContact, "human.email.code.sent"),
  sentAs(emailLogin(""), "email.login", sameContact, "human.email.login.code.sent"),
  sentAs(phoneVerification, "phone.verification", askedContact, "human.phone.code.sent"),
  sentAs(passwordReset, "password.reset", contact, "human.password.code.sent"),
  sentAs(
    passkeyRegistration,
    "passkey.registration",
    contact,
    "human.passwordless.initialization.code.sent",
  ),
  ...(["sms", "email"] as const).flatMap((channel) =>
    [otpLogin(channel), otpRegistration(channel)].map((kind) =>
      sentAs(kind, "otp", authenticator(`otp_${channel}`), `human.mfa.otp.${channel}.code.sent`),
    ),
  ),
];

/** The kind of a name; of codes of log-ins, which have a kind each, the one that they all have in common. */
function codedOf({ code: name }: { code: string }): Coded | undefined {
  const isOfLogin = name.startsWith(emailLogin("").name);
  const found = coded.find(({ kind }) => kind.name === (isOfLogin ? emailLogin("").name : name));
  return found && { ...found, kind: { ...found.kind, name } };
}

/** Whom a message is written to, and how they are called. */
async function describe(
  names: UserNamesReader,
  instanceId: string,
  id: string,
  state: User,
): Promise<DueNotice["user"]> {
  const { organizationId, data } = state;
  const language = data["preferred_language"];
  return {
    id,
    organizationId,
    loginName: (await names.of(instanceId, id))?.loginName ?? state.username,
    displayName: displayNameOf(data) || state.username,
    preferredLanguage: typeof language === "string" ? language : undefined,
  };
}

/** Whoever registers with an address has no other name yet. */
const recipientOf = (id: string, address: string, { organizationId, language }: Newcomer) => ({
  id,
  organizationId,
  loginName: address,
  displayName: address,
  preferredLanguage: language,
});

/** Notices as they are when their time has come. */
export function noticeSource(deps: Deps) {
  const { db, events, organizations, policies, secrets, newId, now } = deps;
  const codes = createCodes({ db, secrets, policies, newId });
  const denials = createDenials({ db, events, secrets, policies, newId });
  const names = userNamesReader(db);
  const accountOf = accountOfAddress(db);

  /** The code that is sent now; nothing where it was spent, or asked for anew. */
  async function renewed(
    job: RunningJob<Notice>,
    kind: CodeKind,
    { subject, askedAt }: { subject: string; askedAt: string },
  ): Promise<string | undefined> {
    const { instanceId, payload } = job;
    return events.transact(by(job), async (tx) => {
      await job.fence(tx);
      const asked = { subject, askedAt: new Date(askedAt) };
      return codes.renew(tx, { instanceId, userId: payload.userId }, kind, asked);
    });
  }

  /** Whoever has an account with the address is told so; then nobody ever knows the code. */
  async function ofNewcomer(
    job: RunningJob<Notice>,
    asked: { subject: string; askedAt: string },
    newcomer: Newcomer,
  ): Promise<DueNotice | undefined> {
    const { instanceId, payload } = job;
    const { subject: address } = asked;
    const account = await accountOf(instanceId, address, newcomer.organizationId);
    const { state } = account ? await events.load(user, instanceId, account) : {};
    if (account !== undefined && state !== undefined) {
      const recipient = await describe(names, instanceId, account, state);
      const own = state.email?.address ?? address;
      return { channel: "email", topic: "registered", address: own, user: recipient };
    }
    const code = await renewed(job, registration, asked);
    if (code === undefined) return undefined;
    const recipient = recipientOf(payload.userId, address, newcomer);
    return { channel: "email", topic: "registration", address, user: recipient, code };
  }

  return {
    /** What to send; nothing where the user, their address or the code that was asked for is gone, or the code was asked anew. */
    async due(job: RunningJob<Notice>): Promise<DueNotice | undefined> {
      const { instanceId, payload } = job;
      const { userId, about, channel, urlTemplate, sessionId, newcomer } = payload;
      // What another replica has written counts, as it may be what this is about.
      await db.catchUp();
      if (newcomer !== undefined && "code" in about) return ofNewcomer(job, about, newcomer);
      const { state } = await events.load(user, instanceId, userId);
      if (state === undefined || state.state === "inactive") return undefined;
      // Until its users are removed, those of a deleted organization have rows and streams.
      if ((await organizations.byId(instanceId, state.organizationId)) === undefined) {
        return undefined;
      }
      const recipient = await describe(names, instanceId, userId, state);
      const notice = { channel, urlTemplate, sessionId, user: recipient };
      if ("news" in about) {
        const { accountId = userId } = about;
        const loginName = async () => (await names.of(instanceId, accountId))?.loginName;
        const news = await newsDue(notice, about, state, { loginName, now: now() });
        return news && withDenial({ events, denials }, job, news, about);
      }
      const { subject } = about;
      const found = codedOf(about);
      const address = found?.address(state, payload, subject);
      if (found === undefined || address === undefined) return undefined;
      const code = await renewed(job, found.kind, about);
      if (code === undefined) return undefined;
      return { ...notice, topic: found.topic, address, code, codeId: subject };
    },

    /** Ends the job; the log says that the message has left. */
    async sent(job: RunningJob<Notice>): Promise<void> {
      const { about, userId } = job.payload;
      const fact = sentFact(about);
      await events.transact(by(job), async (tx) => {
        await job.finish(tx);
        const { state } = await tx.load(user, userId);
        if (state === undefined || fact === undefined) return;
        const owner = { type: "org", id: state.organizationId } as const;
        tx.record(userNotices, await tx.load(userNotices, userId), [fact], owner);
      });
    },
  };
}

/** The notice with the code of its link, where there may be reason to deny what it tells. */
async function withDenial(
  { events, denials }: { events: Deps["events"]; denials: Pick<Denials, "add"> },
  job: RunningJob<Notice>,
  due: DueNotice,
  { former }: { former?: string | undefined },
): Promise<DueNotice> {
  if (!deniable.has(due.topic)) return due;
  const told = former === undefined ? "owner" : "former";
  const { instanceId, id, payload } = job;
  const code = await events.transact(by(job), async (tx) => {
    await job.fence(tx);
    await requireUser(tx, payload.userId);
    return denials.add(tx, { instanceId, userId: payload.userId }, { id, told });
  });
  return { ...due, code, codeId: id };
}

/** News as they are due; nothing where who they are for may not read them, or they no longer count. */
async function newsDue(
  notice: Omit<DueNotice, "topic" | "address">,
  about: Extract<Notice["about"], { news: News }>,
  state: User,
  { loginName, now }: { loginName: () => Promise<string | undefined>; now: Date },
): Promise<DueNotice | undefined> {
  const { former } = about;
  if (former !== undefined) return { ...notice, topic: about.news, address: former };
  const { email } = state;
  if (email === undefined || !mayReadNews(email)) return undefined;
  const news = { ...notice, topic: about.news, address: email.address };
  if (about.news === "recovery.link") {
    const account = await loginName();
    return account === undefined ? undefined : { ...news, account };
  }
  const { endsAt } = about;
  if (about.news === "owners.ending" && endsAt !== undefined) {
    // Who could not be told until then learns nothing by it.
    return new Date(endsAt) > now ? { ...news, endsAt: new Date(endsAt) } : undefined;
  }
  const { browser, app } = about;
  if (about.news !== "domain.claimed") return { ...news, browser, app };
  return state.claim === undefined ? undefined : { ...news, domain: state.claim.domain };
}

/** Nobody asked for it but time. */
const by = ({ instanceId, id: requestId, signal }: RunningJob<Notice>) =>
  ownWork({ instanceId, signal, service: "notices", requestId });

const sentNews: Partial<Record<News, NoticeEvent>> = {
  "password.changed": noticeEvents["human.password.change.sent"]({}),
  "domain.claimed": noticeEvents["domain.claimed.sent"]({}),
};

/** What the log says of a message that has left, if anything. */
const sentFact = (about: Notice["about"]): NoticeEvent | undefined =>
  "news" in about ? sentNews[about.news] : codedOf(about)?.sent;
