import type { Transaction } from "../../eventstore/transaction.ts";
import { enqueue, jobKind } from "../../jobs/job.ts";
import type { UserRef } from "./user-ref.ts";

/** The ways in which users are told things. */
export type Channel = "email" | "sms";

/** News without a code. */
export type News =
  | "password.changed"
  | "registered"
  | "domain.claimed"
  | "recovery.link"
  | "owners.ending"
  | "email.changed"
  | "phone.changed"
  | "browser.new"
  | "factor.added"
  | "factor.removed"
  | "recovery_code.used"
  | "recovery_codes.made"
  | "offline.allowed";

/** News that may be of somebody else's doing: their mails have a link to say so (L5). */
export const deniable: ReadonlySet<string> = new Set<News>([
  "password.changed",
  "email.changed",
  "browser.new",
  "factor.added",
  "factor.removed",
  "recovery_code.used",
  "recovery_codes.made",
  "offline.allowed",
]);

/** Somebody who wants an account of an organization: what is known of them before they have one. */
export type Newcomer = { organizationId: string; language: string };

/**
 * `accountId`: the user whom they are about, where that is another one than is told. `endsAt`: when it ends what they are
 * about. `browser`, `app`: what was seen of the browser, and the name of the app, that they are about. `former`: the proven address or number that was the user's until then, which is told in the place of theirs.
 */
type AboutNews = {
  news: News;
  accountId?: string;
  endsAt?: string;
  browser?: string;
  app?: string;
  former?: string;
};

/**
 * Something that a user is to be told, due from the unit in which it came about. It holds no code, and no address but the one that
 * was theirs: both are looked up when it is sent.
 */
export type Notice = {
  userId: string;
  channel: Channel;
  /** The link to give: a template with `{{.UserID}}`, `{{.OrgID}}`, `{{.Code}}`, `{{.CodeID}}`; the page of the login without. */
  urlTemplate?: string | undefined;
  /** The session that a one-time password is for: `{{.SessionID}}` of the template. */
  sessionId?: string | undefined;
  /** The code is for somebody who has no account yet; `userId` is then an id that no user has. */
  newcomer?: Newcomer;
  about: { code: string; subject: string; askedAt: string } | AboutNews;
};

export const noticeJob = jobKind<Notice>("notice");

/** What happens to an account is for nobody who has not proven that they read its mail. */
export const mayReadNews = (email: { isVerified: boolean } | undefined): boolean =>
  email?.isVerified === true;

/** Has a user told some news, by e-mail where nothing else is said, once the unit is committed. */
export function tellNews(
  tx: Transaction,
  newId: () => string,
  { instanceId, userId }: UserRef,
  about: AboutNews,
  channel: Channel = "email",
): void {
  const id = newId();
  const job = { instanceId, id, now: tx.now, key: `${instanceId}/${id}`, position: 0n };
  tx.write(enqueue(noticeJob, job, { userId, channel, about }));
}
