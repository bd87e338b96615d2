import type { Branding } from "../../src/login/branding.ts";
import { isLanguage, type Language, languages } from "../../src/texts/languages.ts";
import type { Page, Problem } from "../../src/login/page.ts";
import { accountsPage } from "../../src/login/pages/accounts.ts";
import { blockedPage } from "../../src/login/pages/blocked.ts";
import { changePasswordPage } from "../../src/login/pages/change-password.ts";
import { consentPage } from "../../src/login/pages/consent.ts";
import { developmentMailPage } from "../../src/login/pages/development-mail.ts";
import { deviceConfirmPage } from "../../src/login/pages/device-confirm.ts";
import { deviceDonePage } from "../../src/login/pages/device-done.ts";
import { devicePage } from "../../src/login/pages/device.ts";
import { emailCodePage } from "../../src/login/pages/email-code.ts";
import { errorPage } from "../../src/login/pages/error.ts";
import { forgotPasswordPage } from "../../src/login/pages/forgot-password.ts";
import { formPostPage } from "../../src/login/pages/form-post.ts";
import { loggedOutPage } from "../../src/login/pages/logged-out.ts";
import { loginNamePage } from "../../src/login/pages/login-name.ts";
import { logoutPage } from "../../src/login/pages/logout.ts";
import { mfaPage } from "../../src/login/pages/mfa.ts";
import { passkeyPage } from "../../src/login/pages/passkey.ts";
import { emailLinkElsewherePage, emailLoginPage } from "../../src/login/pages/email-login.ts";
import { notMePage } from "../../src/login/pages/not-me.ts";
import { passwordPage } from "../../src/login/pages/password.ts";
import { preparePasskeyPage } from "../../src/login/pages/prepare-passkey.ts";
import { providerAccountPage } from "../../src/login/pages/provider-account.ts";
import { providerGoPage } from "../../src/login/pages/provider-go.ts";
import { providerPasswordPage } from "../../src/login/pages/provider-password.ts";
import { providerRegisterPage } from "../../src/login/pages/provider-register.ts";
import { recoveryCodePage } from "../../src/login/pages/recovery-code.ts";
import { registerPage } from "../../src/login/pages/register.ts";
import { registerAccountPage } from "../../src/login/pages/register-account.ts";
import { confirmEmailPage, invitedPasskeyPage } from "../../src/login/pages/from-mail.ts";
import { resetPasswordPage } from "../../src/login/pages/reset-password.ts";
import { setupPasskeyPage } from "../../src/login/pages/setup-passkey.ts";
import { setupRecoveryCodesPage } from "../../src/login/pages/setup-recovery-codes.ts";
import { setupTotpPage } from "../../src/login/pages/setup-totp.ts";
import { setupPage } from "../../src/login/pages/setup.ts";
import { smsCodePage } from "../../src/login/pages/sms-code.ts";
import { totpPage } from "../../src/login/pages/totp.ts";
import { verifyEmailPage } from "../../src/login/pages/verify-email.ts";
import { texts } from "../../src/texts/texts.ts";

import { accountSamples } from "../account/samples.ts";
import { listSamples } from "./list-samples.ts";
import { creationOptions, requestOptions, rules } from "./sample-values.ts";

export type SampleOptions = {
  language?: Language;
  branding?: Partial<Branding>;
  nonce?: string;
  /** Where the page of form_post leads. */
  postTo?: string;
  /** Takes the place of every text that comes from outside. */
  say?: (text: string) => string;
};

/**
 * Every page there is, by a name, with much on it, for what is judged of layout, colours and scripts in every language. Which states
 * a service shows is for the gallery to tell (`gallery.ts`).
 */
export function samples(options: SampleOptions = {}): Map<string, string> {
  const say = options.say ?? ((text: string) => text);
  const language = options.language ?? "en";
  const page = (own: Partial<Page> = {}): Page => ({
    language,
    languages: Object.keys(languages).filter(isLanguage),
    t: texts(language),
    nonce: options.nonce ?? "",
    branding: { productName: say("Acme"), theme: "auto", ...options.branding },
    self: say("/ui/login/loginname"),
    csrf: say("csrf-token"),
    flow: say("flow-1"),
    ...own,
  });
  const wrong = (...problems: Problem[]) => page({ problems });
  const app = say("Northwind Orders");
  const account = { loginName: say("anna@acme.example"), displayName: say("Anna Lindqvist") };
  const providers = [
    { id: say("1"), name: say("GitHub"), type: "forge_a" as const },
    { id: say("2"), name: say("Contoso Entra ID"), type: "directory_a" as const },
  ];
  const loginName = { allowsLoginName: true, allowsRegister: true, providers };
  const back = { app, url: say("https://northwind.example/") };
  const code = { account, hasOthers: true };
  const scopes = ["openid", "profile", "email", "offline_access", say("orders:read")];
  return new Map([
    ["login-name", loginNamePage(page(), { ...loginName, app, passkeyOptions: requestOptions })],
    [
      "login-name-plain",
      loginNamePage(page(), { ...loginName, providers: [], allowsRegister: false }),
    ],
    [
      "login-name-organization",
      loginNamePage(page({ notice: "PASSWORD_CHANGED" }), {
        ...loginName,
        organization: say("Acme Rotterdam"),
        loginName: account.loginName,
      }),
    ],
    [
      "password",
      passwordPage(page(), {
        account,
        allowsReset: true,
        allowsEmail: false,
        preparesPasskeys: false,
      }),
    ],
    [
      "password-or-email",
      passwordPage(page(), {
        account,
        allowsReset: true,
        allowsEmail: true,
        preparesPasskeys: true,
      }),
    ],
    ["prepare-passkey", preparePasskeyPage(page(), { options: creationOptions })],
    ["email-login", emailLoginPage(page(), { account, isSent: false, allowsPassword: true })],
    [
      "email-login-sent",
      emailLoginPage(wrong({ code: "CODE_INVALID", field: "code" }), {
        account,
        isSent: true,
        allowsPassword: true,
      }),
    ],
    ["not-me", notMePage(page(), { userId: "1", noticeId: "2", code: "3" })],
    ["email-link-elsewhere", emailLinkElsewherePage(page(), say("123456"))],
    [
      "password-wrong",
      passwordPage(wrong({ code: "INVALID_CREDENTIALS" }), {
        account,
        allowsReset: true,
        allowsEmail: false,
        preparesPasskeys: true,
      }),
    ],
    [
      "accounts",
      accountsPage(page(), {
        app,
        accounts: [
          { ...account, id: say("s1"), isSignedIn: true },
          { loginName: say("anna.l@very-long-company-name.example"), id: "s2", isSignedIn: false },
        ],
      }),
    ],
    ["mfa-passkey", mfaPage(page(), { account, factors: ["passkey"], isPasskeyAsked: true })],
    ["mfa", mfaPage(page(), { account, factors: ["totp", "passkey", "email", "sms", "recovery"] })],
    ["totp", totpPage(page(), code)],
    [
      "totp-trust",
      totpPage(page(), { ...code, trust: { lifetimeMs: 2_592_000_000, isChecked: true } }),
    ],
    [
      "totp-trust-hours",
      totpPage(page(), { ...code, trust: { lifetimeMs: 3_600_000, isChecked: false } }),
    ],
    ["totp-wrong", totpPage(wrong({ code: "TOTP_INVALID", field: "code" }), code)],
    [
      "email-code",
      emailCodePage(page({ notice: "CODE_SENT" }), { ...code, address: say("a…@acme.example") }),
    ],
    ["sms-code", smsCodePage(page(), { ...code, phone: say("+41 … 12") })],
    ["recovery-code", recoveryCodePage(page(), code)],
    [
      "passkey",
      passkeyPage(page(), {
        account,
        kind: "passkey",
        options: requestOptions,
        otherWay: "mfaChoice",
      }),
    ],
    ["security-key", passkeyPage(page(), { kind: "securityKey", options: requestOptions })],
    [
      "setup",
      setupPage(page(), { account, factors: ["totp", "passkey", "email", "sms"], canSkip: true }),
    ],
    [
      "setup-owner",
      setupPage(page(), { account, factors: ["totp", "passkey"], isOwner: true, canSkip: false }),
    ],
    [
      "setup-totp",
      setupTotpPage(page(), {
        uri: say(
          "otpauth://totp/Acme:anna%40acme.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme",
        ),
        secret: say("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"),
      }),
    ],
    ["setup-passkey", setupPasskeyPage(page(), { account, options: creationOptions })],
    [
      "setup-recovery-codes",
      setupRecoveryCodesPage(page(), {
        codes: Array.from({ length: 10 }, (_, at) => say(`BCDF-GHJK-${at}LM${at}`)),
      }),
    ],
    ["register", registerPage(page(), { values: {}, app })],
    [
      "register-wrong",
      registerPage(wrong({ code: "EMAIL_INVALID", field: "email" }), {
        organization: say("Acme Rotterdam"),
        values: {
          givenName: say("Anna"),
          familyName: say("Lindqvist"),
          email: say("anna@acme"),
        },
      }),
    ],
    [
      "register-account",
      registerAccountPage(page(), { email: say("anna@acme.example"), asked: "password", rules }),
    ],
    [
      "register-account-without-password",
      registerAccountPage(page(), {
        email: say("anna@acme.example"),
        asked: "wayIn",
        allowsEmail: true,
        passkey: creationOptions,
      }),
    ],
    [
      "register-account-name",
      registerAccountPage(page(), {
        email: say("anna@acme.example"),
        asked: "name",
        loginName: say("anna"),
      }),
    ],
    [
      "register-account-wrong",
      registerAccountPage(
        wrong(
          { code: "USERNAME_TAKEN", field: "login_name" },
          { code: "PASSWORD_TOO_SHORT", field: "new_password", count: 12 },
          { code: "PASSWORD_NEEDS_NUMBER", field: "new_password" },
        ),
        { email: say("anna@acme.example"), asked: "password", loginName: say("anna"), rules },
      ),
    ],
    [
      "provider-go",
      providerGoPage(page(), {
        provider: say("Contoso Entra ID"),
        url: "https://contoso.example/",
      }),
    ],
    [
      "provider-password",
      providerPasswordPage(wrong({ code: "INVALID_CREDENTIALS", field: "password" }), {
        idpId: say("1"),
        provider: say("Acme directory"),
        loginName: say("anna"),
      }),
    ],
    [
      "provider-account",
      providerAccountPage(page(), {
        provider: say("GitHub"),
        account: say("anna-l"),
        hasCandidate: false,
        allowsLink: true,
        allowsCreate: true,
      }),
    ],
    [
      "provider-account-candidate",
      providerAccountPage(page(), {
        provider: say("GitHub"),
        account: say("anna-l"),
        hasCandidate: true,
        allowsLink: true,
        allowsCreate: false,
      }),
    ],
    [
      "provider-register",
      providerRegisterPage(page(), {
        provider: say("GitHub"),
        values: { givenName: say("Anna"), familyName: say("Lindqvist"), email: say("a@b.example") },
      }),
    ],
    ["error-provider", errorPage(page(), { code: "PROVIDER_OFF", requestId: "x-3", back })],
    ["verify-email", verifyEmailPage(page(), { address: say("anna@acme.example"), isSent: true })],
    [
      "verify-email-ask",
      verifyEmailPage(page(), { address: say("anna@acme.example"), isSent: false, canSkip: true }),
    ],
    [
      "verify-email-other",
      verifyEmailPage(wrong({ code: "EMAIL_INVALID", field: "email" }), {
        isSent: true,
        address: say("anna@acme.example"),
        other: say("anna@acme.exampel"),
      }),
    ],
    ["forgot-password", forgotPasswordPage(page(), { loginName: account.loginName })],
    ["confirm-email", confirmEmailPage(page(), { userId: "1", code: say("BCDFGHJK") })],
    ["invited-passkey", invitedPasskeyPage(page(), { userId: "1", codeId: "2", code: "BCDFGH" })],
    ["reset-password", resetPasswordPage(page(), { loginName: account.loginName, rules })],
    [
      "change-password",
      changePasswordPage(page(), { account, why: "expired", asksCurrent: true, rules }),
    ],
    [
      "consent",
      consentPage(page(), {
        app,
        organization: say("Acme"),
        host: say("app.northwind.example"),
        access: { choices: [], organization: say("Acme"), within: [] },
        account,
        scopes,
        policyUri: say("https://northwind.example/privacy"),
        termsUri: say("https://northwind.example/terms"),
      }),
    ],
    [
      "consent-access",
      consentPage(page(), {
        app,
        organization: say("Acme"),
        host: say("app.northwind.example"),
        access: {
          choices: ["own", "organization", "given", "everything"],
          organization: say("Acme"),
          within: [],
        },
        account,
        scopes: ["openid", "profile"],
      }),
    ],
    ["device", devicePage(page(), { userCode: say("") })],
    [
      "device-confirm",
      deviceConfirmPage(page(), {
        app,
        organization: say("Acme"),
        access: { choices: ["own", "organization"], organization: say("Acme"), within: [] },
        account,
        userCode: say("WDJB-MJHT"),
        scopes: ["openid", "profile"],
      }),
    ],
    ["device-done", deviceDonePage(page(), { outcome: "allowed" })],
    ["device-denied", deviceDonePage(page(), { outcome: "denied" })],
    ["logout", logoutPage(page(), { accounts: [account, { loginName: say("ben@acme.example") }] })],
    ["logged-out", loggedOutPage(page(), { back })],
    [
      "error",
      errorPage(page(), {
        code: "REDIRECT_URI_INVALID",
        detail: say("invalid_request: https://other.example/callback"),
        requestId: say("aGVsbG8gd29y-1f"),
      }),
    ],
    [
      "error-flow",
      errorPage(page(), { code: "FLOW_NOT_FOUND", requestId: "x-2", back, isOfLogin: true }),
    ],
    ...listSamples(page, say),
    ...accountSamples(page, say, creationOptions),
    ["blocked", blockedPage(page())],
    [
      "form-post",
      formPostPage(page(), {
        app,
        action: options.postTo ?? "https://northwind.example/callback",
        parameters: [
          [say("code"), say("a1b2c3")],
          ["state", say("xyz")],
        ],
      }),
    ],
    [
      "development-mail",
      developmentMailPage(page(), {
        messages: [
          {
            to: say("anna@acme.example"),
            subject: say("Your code"),
            text: say(
              "Hello Anna,\n\nyour code is BCDFGH. It is valid for an hour.\nhttps://login.acme.example/ui/login/verify?code=BCDFGH\n",
            ),
            sentAt: new Date("2026-11-21T17:00:00Z"),
          },
        ],
      }),
    ],
  ]);
}
