import { paths } from "../login/paths.ts";

/** Where the pages of a person's own account are. */
export const accountPaths = {
  overview: paths.account,
  profile: "/ui/account/profile",
  contact: "/ui/account/contact",
  email: "/ui/account/contact/email",
  phone: "/ui/account/contact/phone",
  security: "/ui/account/security",
  password: paths.accountPassword,
  passkeys: "/ui/account/security/passkeys",
  passkeyName: "/ui/account/security/passkeys/name",
  newPasskey: "/ui/account/security/passkeys/new",
  authenticator: "/ui/account/security/authenticator",
  recoveryCodes: "/ui/account/security/recovery",
  providers: "/ui/account/security/providers",
  sessions: "/ui/account/sessions",
  apps: "/ui/account/apps",
  history: "/ui/account/history",
  organizations: "/ui/account/organizations",
  data: "/ui/account/data",
  remove: "/ui/account/delete",
} as const;
