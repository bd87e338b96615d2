import type { Channel } from "./notice.ts";

// No letters and digits that look alike, and no vowels, so that no code is a word.
const letters = "BCDFGHJKLMNPQRSTVWXZ23456789";
const digits = "0123456789";

/** What a code is for, and how it looks. */
export type CodeKind = { name: string; lifeMs: number; length: number; alphabet: string };

const minute = 60_000;
export const emailVerification: CodeKind = {
  name: "email.verification",
  lifeMs: 60 * minute,
  length: 8,
  alphabet: letters,
};
/** Proves the address of somebody who wants an account, before there is one. */
export const registration: CodeKind = { ...emailVerification, name: "registration" };
export const phoneVerification: CodeKind = {
  name: "phone.verification",
  lifeMs: 10 * minute,
  length: 8,
  alphabet: digits,
};
export const passwordReset: CodeKind = {
  name: "password.reset",
  lifeMs: 60 * minute,
  length: 10,
  alphabet: letters,
};
/** Proves the mailbox of a new person and lets them set their first password: the mail may lie there over a weekend. */
export const initialization: CodeKind = {
  name: "initialization",
  lifeMs: 72 * 60 * minute,
  length: 10,
  alphabet: letters,
};
/** Leads back into an account from the machine that the service runs on (J21): nobody types it. */
export const recoveryLink: CodeKind = {
  name: "recovery.link",
  lifeMs: 15 * minute,
  length: 32,
  alphabet: letters,
};
/** Answers one notice with "it was not me": nobody types it. */
export const denial = (noticeId: string): CodeKind => ({
  name: `denial.${noticeId}`,
  lifeMs: 72 * 60 * minute,
  length: 32,
  alphabet: letters,
});
export const passkeyRegistration: CodeKind = {
  name: "passwordless.registration",
  lifeMs: 60 * minute,
  length: 12,
  alphabet: letters,
};
/** What proves a phone number or an e-mail address that is to get one-time passwords. */
export const otpRegistration = (channel: Channel): CodeKind => ({
  name: `otp.${channel}.registration`,
  lifeMs: 10 * minute,
  length: 8,
  alphabet: digits,
});
/** Logs somebody in, in the place of a password: each log-in has a code of its own. */
export const emailLogin = (loginId: string): CodeKind => ({
  name: `email.login.${loginId}`,
  lifeMs: 10 * minute,
  length: 6,
  alphabet: digits,
});
export const otpLogin = (channel: Channel): CodeKind => ({
  name: `otp.${channel}`,
  lifeMs: 5 * minute,
  length: 8,
  alphabet: digits,
});
