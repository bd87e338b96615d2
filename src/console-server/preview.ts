import { permissionDenied } from "../errors.ts";
import type { Page } from "../login/page.ts";
import { consentPage } from "../login/pages/consent.ts";
import { emailCodePage } from "../login/pages/email-code.ts";
import { forgotPasswordPage } from "../login/pages/forgot-password.ts";
import { loggedOutPage } from "../login/pages/logged-out.ts";
import { loginNamePage } from "../login/pages/login-name.ts";
import { type Factor, mfaPage } from "../login/pages/mfa.ts";
import { passwordPage } from "../login/pages/password.ts";
import { registerPage } from "../login/pages/register.ts";
import { totpPage } from "../login/pages/totp.ts";
import { verifyEmailPage } from "../login/pages/verify-email.ts";
import { drawn } from "../login/shown-page.ts";
import type { Deps } from "../projection/module.ts";
import { type Branding, brandingReader } from "../settings/policy/branding.ts";
import { textReader } from "../settings/policy/text.ts";
import { isLanguage, type Language } from "../texts/languages.ts";
import { type OwnTexts, type TextKey, isTextKey, texts } from "../texts/texts.ts";
import type { ConsoleEndpoint } from "./log-in.ts";
import { previewPath } from "./paths.ts";
import type { ConsoleSessions } from "./sessions.ts";

type At = { instanceId: string; issuer: string };

const account = { loginName: "ada@example.com", displayName: "Ada Lovelace" };
const factors: readonly Factor[] = ["passkey", "totp", "email", "recovery"];

/** Says that the page has the shipped texts, as it would be too large with those that are set. */
const tooLargeHeader = "x-idsvc-too-large";

/** Pages of the log-in as people see them, with somebody made up. */
const shown: readonly ((page: Page) => string)[] = [
  (page) =>
    loginNamePage(page, {
      allowsLoginName: true,
      allowsRegister: true,
      app: "App",
      passkeyOptions: {},
      providers: [{ id: "", name: "Provider", type: "oidc" }],
    }),
  (page) =>
    passwordPage(page, { account, allowsReset: true, allowsEmail: true, preparesPasskeys: false }),
  (page) => mfaPage(page, { account, factors }),
  (page) => totpPage(page, { account, hasOthers: true }),
  (page) => emailCodePage(page, { account, hasOthers: true, address: "a…@example.com" }),
  (page) => registerPage(page, { values: {} }),
  (page) => forgotPasswordPage(page, {}),
  (page) => verifyEmailPage(page, { address: account.loginName, isSent: true }),
  (page) =>
    consentPage(page, {
      app: "App",
      organization: "Organization",
      host: "app.example",
      account,
      scopes: ["profile", "email"],
      access: { choices: [], organization: "", within: [] },
    }),
  (page) => loggedOutPage(page, { back: { app: "App", url: "https://app.example/" } }),
];

/**
 * Shows how the log-in would look with settings that nobody has saved yet: the page where a text stands, else the first one. It is
 * for whoever is signed in to the console, and tells what every page of the log-in tells. Nothing in it runs, and it leads nowhere:
 * the console shows it in a frame without scripts and forms.
 */
export function consolePreview<A extends At>(
  { db }: Pick<Deps, "db">,
  sessions: Pick<ConsoleSessions, "find">,
): ConsoleEndpoint<A> {
  const branding = brandingReader(db);
  const ownTexts = textReader(db);
  return {
    path: previewPath,
    methods: ["POST"],
    crossOrigin: "none",
    async handle(request, at) {
      const { instanceId } = at;
      if ((await sessions.find({ ...at, headers: request.headers })) === undefined) {
        throw notSignedIn();
      }
      const form = new URLSearchParams(await request.text());
      const organizationId = form.get("org") ?? undefined;
      const language = languageOf(form.get("language"));
      const own = await ownTexts(instanceId, organizationId, language);
      const typed = typedText(form);
      const all: OwnTexts = typed === undefined ? own : new Map([...own, typed]);
      const page: Page = {
        language,
        languages: [],
        csrf: "",
        t: texts(language, all),
        nonce: nonceOf(form.get("nonce")),
        branding: typedBranding(form, await branding(instanceId, organizationId)),
      };
      const render = typed === undefined ? shown[0] : shown.find((each) => says(each, page, typed));
      let isTooLarge = false;
      const body =
        render &&
        drawn(page, render, () => {
          isTooLarge = true;
        });
      return {
        status: body === undefined ? 204 : 200,
        headers: {
          "content-type": "text/html; charset=utf-8",
          "cache-control": "no-store",
          // Whoever opened it as a page of its own would see nothing run.
          "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
          "x-content-type-options": "nosniff",
          ...(isTooLarge ? { [tooLargeHeader]: "1" } : {}),
        },
        body: body === undefined ? "" : picture(body),
      };
    },
  };
}

/** A page without what would run or ask for the focus: where nothing may, browsers complain of it. */
const picture = (page: string): string =>
  page
    .replaceAll(/<script\b[^>]*><\/script>/g, "")
    .replaceAll(/(<(?:input|button)\b[^>]*) autofocus\b/g, "$1");

/** Whether a page says a text. */
function says(render: (page: Page) => string, page: Page, [key]: readonly [TextKey, string]) {
  let isSaid = false;
  render({
    ...page,
    t(each, values) {
      isSaid ||= each === key;
      return page.t(each, values);
    },
  });
  return isSaid;
}

const languageOf = (code: string | null): Language =>
  code !== null && isLanguage(code) ? code : "en";

/** Of the page that shows it, so that its policy lets the colours through. */
const nonceOf = (text: string | null): string =>
  text !== null && /^[\w-]{22}$/.test(text) ? text : "";

function typedText(form: URLSearchParams): readonly [TextKey, string] | undefined {
  const [key, text] = [form.get("key"), form.get("text")];
  return key !== null && text !== null && isTextKey(key) ? [key, text] : undefined;
}

const themeOf = (text: string | null) =>
  (["auto", "light", "dark"] as const).find((each) => each === text);

/** What is set, with what was typed in its place. A colour that is none counts as not set. */
const typedBranding = (form: URLSearchParams, set: Branding): Page["branding"] => ({
  productName: form.get("product_name") ?? set.productName,
  primaryColor: form.get("primary_color") ?? set.primaryColor,
  backgroundColor: form.get("background_color") ?? set.backgroundColor,
  theme: themeOf(form.get("theme")) ?? set.theme,
  logo: set.logo?.path,
  logoDark: set.logoDark?.path,
});

const notSignedIn = () =>
  permissionDenied("CONSOLE_SESSION_MISSING", "only who is signed in to the console may do this");
