import type { Channel } from "./notice.ts";

// No letters and digits that look alike, and no vowels, so that no code is a word.
const letters = (length: number) => ({ length, alphabet: "BCDFGHJKLMNPQRSTVWXZ23456789" });
const digits = (length: number) => ({ length, alphabet: "0123456789" });

/** What a code is for, and how it looks. */
export type CodeKind = { name: string; lifeMs: number; length: number; alphabet: string };

const lasting = (
  name: string,
  minutes: number,
  looks: Pick<CodeKind, "length" | "alphabet">,
): CodeKind => ({ name, lifeMs: minutes * 60_000, ...looks });

export const emailVerification = lasting("email.verification", 60, letters(8));
/** Proves the address of somebody who wants an account, before there is one. */
export const registration: CodeKind = { ...emailVerification, name: "registration" };
export const phoneVerification = lasting("phone.verification", 10, digits(8));
export const passwordReset = lasting("password.reset", 60, letters(10));
/** Proves the mailbox of a new person and lets them set their first password: the mail may lie there over a weekend. */
export const initialization = lasting("initialization", 72 * 60, letters(10));
/** Leads back into an account from the machine that the service runs on (J21): nobody types it. */
export const recoveryLink = lasting("recovery.link", 15, letters(32));
/** Answers one notice with "it was not me": nobody types it. */
export const denial = (noticeId: string) => lasting(`denial.${noticeId}`, 72 * 60, letters(32));
export const passkeyRegistration = lasting("passwordless.registration", 60, letters(12));
/** What proves a phone number or an e-mail address that is to get one-time passwords. */
export const otpRegistration = (channel: Channel) =>
  lasting(`otp.${channel}.registration`, 10, digits(8));
/** Logs somebody in, in the place of a password: each log-in has a code of its own. */
export const emailLogin = (loginId: string) => lasting(`email.login.${loginId}`, 10, digits(6));
export const otpLogin = (channel: Channel) => lasting(`otp.${channel}`, 5, digits(8));
