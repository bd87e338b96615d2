import type { Awaitable } from "../awaitable.ts";
import type { Transaction } from "../eventstore/transaction.ts";

/** What is in force in an organization, or in the instance where none is given. Cached: a hit is no promise. */
export type PolicyReader<P> = (instanceId: string, organizationId?: string) => Awaitable<P>;

/** The settings in force that many slices ask for, as the slices of the settings answer them. */
export type Policies = {
  passwords: PolicyReader<PasswordPolicy>;
  security: PolicyReader<SecurityPolicy>;
  /**
   * Whether the instance allows that people are acted for, and none of the organizations forbids it; judged in the unit that it is for,
   * which cannot commit once that has changed.
   */
  allowsImpersonation(
    tx: Transaction,
    instanceId: string,
    organizationIds: readonly string[],
  ): Promise<boolean>;
};

/** What passwords of an organization must be like. */
export type PasswordPolicy = {
  minLength: number;
  requiresUppercase: boolean;
  requiresLowercase: boolean;
  requiresNumber: boolean;
  requiresSymbol: boolean;
  /** Common passwords, and those made of what is known of the user, are refused. */
  blocklist: boolean;
  /** 0: a password never gets too old. */
  maxAgeMs: number;
  /** Passwords that are known from breaches are refused. */
  screenPasswords: boolean;
  /** Whose password has become known must choose another one. */
  screenAtLogin: boolean;
};

export type SecurityPolicy = {
  enableImpersonation: boolean;
  /** Fit for `frame-ancestors` as they are: scheme, host and port, nothing else. */
  allowedFrameOrigins: readonly string[];
  /** Where links in messages may lead beside the domains of the instance: host, and port where it is another than usual. */
  allowedLinkHosts: readonly string[];
  /** Whose pages may use the instance's passkeys beside its own; as browsers send them. */
  relatedOrigins: readonly string[];
  /** Where people report weaknesses; https, `mailto:` or `tel:`. */
  securityContacts: readonly string[];
  /** https; empty where there is none. */
  securityPolicyUrl: string;
  /** How long somebody is signed in to the console at most. */
  consoleSessionMs: number;
  /** How long without a call. */
  consoleIdleMs: number;
};

/** How long what is issued is valid. */
export type OidcTimes = {
  accessTokenLifetimeMs: number;
  idTokenLifetimeMs: number;
  /** Of a refresh token that is not used. */
  refreshTokenIdleMs: number;
  /** Of all refreshing since the login. */
  refreshTokenMs: number;
  codeLifetimeMs: number;
};
