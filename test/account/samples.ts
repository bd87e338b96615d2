import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountPage } from "../../src/account/own.ts";
import { appsOfPage, appsPage } from "../../src/account/pages/apps.ts";
import { authenticatorPage, newAuthenticatorPage } from "../../src/account/pages/authenticator.ts";
import { contactPage, contactsPage } from "../../src/account/pages/contact.ts";
import { dataPage, deletePage } from "../../src/account/pages/data.ts";
import { eventsOfPage, historyPage } from "../../src/account/pages/history.ts";
import { organizationsPage, rowsOfPage } from "../../src/account/pages/organizations.ts";
import { overviewPage } from "../../src/account/pages/overview.ts";
import {
  newPasskeyPage,
  passkeyNamePage,
  passkeysOfPage,
  passkeysPage,
} from "../../src/account/pages/passkeys.ts";
import { passwordPage } from "../../src/account/pages/password.ts";
import { profilePage } from "../../src/account/pages/profile.ts";
import { providersOfPage, providersPage } from "../../src/account/pages/providers.ts";
import { newRecoveryCodesPage, recoveryCodesPage } from "../../src/account/pages/recovery-codes.ts";
import { securityPage } from "../../src/account/pages/security.ts";
import { sessionsOfPage, sessionsPage } from "../../src/account/pages/sessions.ts";
import { accountPaths } from "../../src/account/paths.ts";
import type { Page } from "../../src/login/page.ts";

const at = timestampFromDate(new Date("2026-03-01T12:34:56Z"));
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

type Say = (text: string) => string;
type Make = (own?: Partial<Page>) => Page;

/** Every page of an account, by a name, as full as the service lets one become. */
export function accountSamples(make: Make, say: Say, creationOptions: object): [string, string][] {
  const account = { loginName: say("anna@acme.example"), displayName: say("Anna Lindqvist") };
  const page = (path: string, own: Partial<Page> = {}): AccountPage => ({
    ...make({ self: path, ...own }),
    account,
    path,
  });
  return [
    ["account", overviewPage(page(accountPaths.overview))],
    ...ofPerson(page, say),
    ...waysIn(page, say, creationOptions),
    ...ofTheirs(page, say),
  ].map(([name, html]): [string, string] => [String(name), String(html)]);
}

type PageAt = (path: string, own?: Partial<Page>) => AccountPage;

const ofPerson = (page: PageAt, say: Say): [string, string][] => [
  [
    "account-profile",
    profilePage(page(accountPaths.profile, { notice: "SAVED" }), {
      fields: [
        "given_name",
        "family_name",
        "nickname",
        "display_name",
        "gender",
        "preferred_language",
      ],
      values: { given_name: say("Anna"), family_name: say("Lindqvist"), preferred_language: "de" },
      languages: [
        { value: "de", label: "Deutsch", lang: "de" },
        { value: say("x"), label: say("x"), lang: "en" },
      ],
    }),
  ],
  [
    "account-contact",
    contactsPage(page(accountPaths.contact), {
      email: { address: say("anna@acme.example"), isVerified: true },
      phone: { address: say("+41791234567"), isVerified: false },
    }),
  ],
  [
    "account-email",
    contactPage(
      page(accountPaths.email, { problems: [{ code: "EMAIL_INVALID", field: "address" }] }),
      {
        kind: "email",
        known: { address: say("anna@acme.example"), isVerified: false },
        typed: say("anna@acme"),
      },
    ),
  ],
  [
    "account-phone-code",
    contactPage(page(accountPaths.phone), { kind: "phone", sentTo: say("+41791234567") }),
  ],
  [
    "account-organizations",
    organizationsPage(page(accountPaths.organizations), {
      home: say("Acme"),
      parts: { before: 0, after: 30 },
      memberships: many(rowsOfPage, () => ({
        place: say("Acme"),
        roles: ["ORG_OWNER", say("ORG_X")],
      })),
      grants: many(rowsOfPage, () => ({
        project: say("Portal"),
        organization: say("Acme"),
        roles: [say("reader")],
      })),
    }),
  ],
];

const rules = {
  minLength: 12,
  requiresUppercase: true,
  requiresLowercase: true,
  requiresNumber: true,
  requiresSymbol: true,
};

const waysIn = (page: PageAt, say: Say, options: object): [string, string][] => [
  [
    "account-security",
    securityPage(page(accountPaths.security), {
      hasPassword: true,
      passkeys: 2,
      hasAuthenticator: false,
      recoveryCodes: 3,
      providers: 0,
    }),
  ],
  ["account-password", passwordPage(page(accountPaths.password), { hasPassword: true, rules })],
  ["account-no-password", passwordPage(page(accountPaths.password), { hasPassword: false, rules })],
  [
    "account-passkeys",
    passkeysPage(page(accountPaths.passkeys, { problems: [{ code: "LAST_WAY_IN" }] }), {
      passkeys: many(passkeysOfPage, (index) => ({
        id: say(`k${index}`),
        name: say("My laptop"),
        maker: "iCloud Keychain",
        since: at,
        lastUse: index === 0 ? undefined : at,
        isPrepared: index === 1,
      })),
      known: {
        rpId: "localhost",
        userId: "dXNlcg",
        allAcceptedCredentialIds: many(50, () => "aB-9".repeat(22)),
        name: say("anna@acme.example"),
        displayName: say("Anna Lindqvist"),
      },
      parts: { before: 0, after: 20 },
    }),
  ],
  [
    "account-passkey-name",
    passkeyNamePage(page(accountPaths.passkeyName), { id: say("k1"), name: say("My laptop") }),
  ],
  ["account-passkey-new", newPasskeyPage(page(accountPaths.newPasskey), { options })],
  ["account-authenticator", authenticatorPage(page(accountPaths.authenticator), { ids: [] })],
  [
    "account-authenticator-on",
    authenticatorPage(page(accountPaths.authenticator), { ids: [say("1")] }),
  ],
  [
    "account-authenticator-new",
    newAuthenticatorPage(page(accountPaths.authenticator), {
      uri: "otpauth://totp/acme:anna?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=acme",
      secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    }),
  ],
  ["account-recovery", recoveryCodesPage(page(accountPaths.recoveryCodes), { left: 3 })],
  [
    "account-recovery-new",
    newRecoveryCodesPage(page(accountPaths.recoveryCodes), {
      codes: many(10, () => say("ABCD-EFGH-JKLM")),
    }),
  ],
  [
    "account-providers",
    providersPage(page(accountPaths.providers), {
      links: many(providersOfPage, (index) => ({
        idpId: say("1"),
        provider: say("Forge"),
        username: say("anna"),
        since: at,
        isSuspended: index === 1,
      })),
      offered: many(providersOfPage, () => ({ id: say("2"), name: say("Other Forge") })),
      name: say("Forge"),
      parts: { before: 0, after: 20 },
    }),
  ],
];

const ofTheirs = (page: PageAt, say: Say): [string, string][] => [
  [
    "account-sessions",
    sessionsPage(page(accountPaths.sessions), {
      sessions: many(sessionsOfPage, (index) => ({
        id: say(`s${index}`),
        isThis: index === 0,
        browser: say("Firefox"),
        system: say("Windows"),
        where: say("Bern · 2001:db8::1"),
        since: at,
        lastSeen: at,
      })),
      parts: { before: 0, after: 24 },
    }),
  ],
  [
    "account-apps",
    appsPage(page(accountPaths.apps), {
      organization: say("Acme"),
      parts: { before: undefined, after: 15 },
      apps: many(appsOfPage, () => ({
        id: say("c"),
        app: say("Northwind"),
        since: at,
        lastUsed: undefined,
        scopes: ["openid", "profile", "email", "offline_access", say("other")],
        access: "organization",
      })),
    }),
  ],
  [
    "account-history",
    historyPage(page(accountPaths.history), {
      events: many(eventsOfPage, (index) => ({
        text: say("The password was wrong"),
        at,
        where: say("Firefox · Linux · ::1"),
        isByOther: index === 2,
      })),
      parts: { before: 0, after: 30 },
    }),
  ],
  ["account-data", dataPage(page(accountPaths.data))],
  [
    "account-delete",
    deletePage(page(accountPaths.remove, { problems: [{ code: "NOT_CONFIRMED", field: "sure" }] })),
  ],
];
