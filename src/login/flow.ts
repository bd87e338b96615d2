import type { Strength } from "../authz/step-up.ts";
import type { AuthorizationRequest, LogoutRequest, Missing } from "../oidc/core/ports.ts";

/**
 * What is known of a login while it goes on. Nothing in it is a proof: those are in the session, which counts for the
 * browser only when the login has ended.
 */
export type FlowData = {
  /** The trace of the request that began it, as the header `traceparent` names it. */
  trace?: string;
  /** The application that waits, if one does. */
  request?: AuthorizationRequest;
  /** What it begins with, where the provider found that out. */
  begin?: Missing;
  logout?: LogoutRequest;
  /** The device that waits (RFC 8628); without an id in what is left of earlier releases. */
  device?: { requestId?: string };
  /** What was typed as login name. */
  loginName?: string;
  /** What was typed as login name of somebody who has forgotten their password. */
  forgotten?: string;
  /** Who was found by it, if anybody was. */
  userId?: string;
  /** A code in the place of the password was asked for, whether or not there was anybody to send it to. */
  isEmailSent?: boolean;
  /** The session in which the user authenticates. */
  sessionId?: string;
  /** Proofs count from then on (milliseconds since the epoch): the login is asked for although there is a session. */
  freshSince?: number;
  /** An account was chosen or typed, so that nobody is asked again. */
  isChosen?: boolean;
  /** Goes on without the passkey that the application asks for. */
  isWithoutPasskey?: boolean;
  /** The password is right and must be changed. */
  mustChangePassword?: boolean;
  /** Who is registering; there is no account before the address is proven. The id is that of the code alone. */
  newcomer?: {
    id: string;
    givenName: string;
    familyName: string;
    email: string;
    isProven?: boolean;
    /** What they want to be called, where the address leads to somebody else. */
    loginName?: string;
    /** A passkey that is being created for the account to come. */
    passkey?: { webAuthNId: string; options: Record<string, unknown> };
  };
  /** The address of the account, where it is to be proven. */
  email?: string;
  /** The e-mail address is to be proven before it goes on. */
  mustVerifyEmail?: boolean;
  /** Whether the address of an account, which was never proven, was asked for in this log-in: a code was sent, or the user goes on without. */
  emailAsked?: "sent" | "over";
  hasConsented?: boolean;
  /** The language that was chosen on a page; it counts more than what the application wishes. */
  language?: string;
  /** The challenge of a passkey that any user may answer, and the domain it is for. */
  passkey?: { challenge: string; domain: string };
  /** The challenge of a key as second factor, as options for the browser. */
  key?: { options: Record<string, unknown> };
  /** The browser, in which the password was typed, makes passkeys by itself; and what it was asked to make. */
  preparing?: { asked?: { webAuthNId: string; options: Record<string, unknown> } };
  /** A second factor that is being set up. */
  setup?:
    | {
        kind: "totp";
        totpId: string /** `otpauth://`, without the seed, which rests sealed with the user. */;
        uri: string;
      }
    | { kind: "passkey"; webAuthNId: string; options: Record<string, unknown> };
  /** Recovery codes that were made in a session and are not yet said to be saved; see `unsaved-codes.ts`. */
  recoveryCodes?: { sessionId: string; sealed: string };
  /**
   * The login with a provider that has succeeded, while nobody here has that account linked: `candidateId` is who auto
   * linking found, and `isLinking` says that whoever logs in now gets it.
   */
  idp?: { intentId: string; idpId: string; candidateId?: string; isLinking?: boolean };
  /** A passkey that is being created by the link of a mail, and for whom. */
  invited?: {
    user: { id: string; organizationId: string };
    webAuthNId: string;
    options: Record<string, unknown>;
  };
  /** The page of the person's own account that the log-in leads to: path and query. */
  returnTo?: string;
  /** How strongly the person proves themselves anew for a change to their account, and from when on proofs count (L2). */
  stepUp?: { strength: Strength; since: number };
  /** What is under way on a page of an account, of the person of a session. */
  own?: OwnWork;
  /** How it ended. */
  outcome?: "done" | "denied";
  /** Its outcome was taken up: it cannot go on. */
  isOver?: true;
  /** Of one that is over: the application that waited. */
  waited?: Waiting;
};

/** What is under way on a page of somebody's own account. It counts only for the session that it was begun in. */
export type OwnWork = {
  sessionId: string;
  /** An address or number that a code was sent to. */
  contact?: { kind: "email" | "phone"; address: string };
  /** `otpauth://`, without the seed, which rests sealed with the user. */
  totp?: { totpId: string; uri: string };
  passkey?: { webAuthNId: string; name: string; options: Record<string, unknown> };
  /** Recovery codes that were made and are not yet said to be saved, sealed. */
  recoveryCodes?: string;
  /** A provider at which the person logs in to link their account there. */
  linking?: { organizationId: string };
};

/** An application, and where the browser was to go back to. */
export type Waiting = Pick<AuthorizationRequest, "clientId" | "redirectUri">;

export type Flow = {
  id: string;
  /** What names it in addresses: its id, or all of it, sealed, while nothing of it is stored. */
  address: string;
  isPersisted: boolean;
  agentId: string;
  version: number;
  data: FlowData;
  createdAt: Date;
};
