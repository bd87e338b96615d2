/** Where the pages of the login are. A form is sent to the page that it stands on, unless said otherwise. */
export const paths = {
  /** Leads a flow to its first page; without a flow it begins one. */
  begin: "/ui/login",
  loginName: "/ui/login/loginname",
  password: "/ui/login/password",
  /** A code by mail in the place of the password, and where the link of that mail leads. */
  emailLogin: "/ui/login/email",
  emailLink: "/ui/login/email/link",
  accounts: "/ui/login/accounts",
  /** `idp` names the provider, that of a button or of a link. */
  provider: "/ui/login/idp",
  /** All of them, where there are more than the first page shows. */
  providers: "/ui/login/idps",
  providerPassword: "/ui/login/idp/password",
  providerAccount: "/ui/login/idp/account",
  providerRegister: "/ui/login/idp/register",
  passkey: "/ui/login/passkey",
  mfa: "/ui/login/mfa",
  /** All second factors that a person has, also where one of them is asked for first. */
  mfaChoice: "/ui/login/mfa?choose=true",
  totp: "/ui/login/mfa/totp",
  emailCode: "/ui/login/mfa/email",
  smsCode: "/ui/login/mfa/sms",
  recoveryCode: "/ui/login/mfa/recovery",
  /** Where a browser makes a passkey by itself. */
  preparePasskey: "/ui/login/passkey/prepare",
  setup: "/ui/login/mfa/setup",
  setupTotp: "/ui/login/mfa/setup/totp",
  setupPasskey: "/ui/login/mfa/setup/passkey",
  setupRecoveryCodes: "/ui/login/mfa/setup/recovery",
  register: "/ui/login/register",
  /** Where somebody who has proven their address makes the account. */
  registerAccount: "/ui/login/register/account",
  verifyEmail: "/ui/login/verify",
  /** Where mails lead that ask for the proof of an address. */
  confirmEmail: "/ui/login/verify/email",
  /** Where mails lead that invite to create a passkey. */
  registerPasskey: "/ui/login/passkey/register",
  forgotPassword: "/ui/login/password/forgot",
  resetPassword: "/ui/login/password/reset",
  /** Where the link leads that `idsvc recover` prints. */
  recover: "/ui/login/recover",
  /** Where the links of notices lead: it was not me. */
  notMe: "/ui/login/notme",
  changePassword: "/ui/login/password/change",
  /** Where people change their password of themselves. */
  accountPassword: "/ui/account/security/password",
  consent: "/ui/login/consent",
  device: "/device",
  deviceConfirm: "/ui/login/device/confirm",
  deviceDone: "/ui/login/device/done",
  logout: "/ui/login/logout",
  loggedOut: "/ui/login/logout/done",
  /** The person's own account, where a log-in ends for which no application waits. */
  account: "/ui/account",
  error: "/ui/login/error",
  developmentMail: "/ui/dev/mail",
  assets: "/ui/login/assets",
} as const;
