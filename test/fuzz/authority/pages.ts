import type { JsonObject } from "@bufbuild/protobuf";
import type { Authenticator } from "../../support/authenticator.ts";
import { type Action, type Actions, known, optional, type Outcome, text } from "./action.ts";
import { nameIn } from "./book.ts";
import { browserOf } from "./browser.ts";
import { noteTaken } from "./factors.ts";
import { answerIn, authorizeUrl, redeem, type Typed, walk } from "./flows.ts";
import { mailbox } from "./mailbox.ts";
import { script } from "./service.ts";
import { ownApi, type World } from "./world.ts";

const consoleUri = "http://localhost/cb";
const ofOrganization = "urn:idsvc:iam:org:domain:primary:";
export const everything = `openid offline_access ${ownApi}`;

/** What came of a request that is answered in JSON. */
export const told = (
  label: string,
  { status, json }: { status: number; json: unknown },
): Outcome =>
  status === 200 ? { isDone: true, label, told: json as JsonObject } : { isDone: false, label };

/** Logs in at the console as a person does, and lets it do everything. */
async function logInAt(
  world: World,
  typed: Typed & { organization?: string; client?: string | undefined },
  browser = browserOf(world.service, world.host),
): Promise<Outcome> {
  const { organization, client = "console" } = typed;
  const clientId = world.book.textOf(`client ${client}`);
  const scope =
    organization === undefined ? everything : `${everything} ${ofOrganization}${organization}`;
  const asked = { clientId, redirectUri: consoleUri, scope };
  const start = await browser.open(authorizeUrl(asked));
  const choice = client === "account" ? "given" : "everything";
  const { page } = await walk(world.service, browser, start, { choice, ...typed });
  const { code } = answerIn(page);
  if (code === undefined) return { isDone: false, label: "logIn" };
  return told("logIn", await redeem(world, { code, redirectUri: consoleUri }, { clientId }));
}

const logIn: Action = {
  weight: 4,
  draw(random, world) {
    // Where the attacker has set something they know what it is.
    const [taken, withPasskey] = ["taken", "with_passkey"].map((kind) =>
      random.chance(0.3) ? random.one(world.book.of(kind)) : undefined,
    );
    const at = random.chance(0.25) ? { client: "account" } : {};
    if (withPasskey !== undefined) {
      return { login_name: nameIn(withPasskey), passkey: true, ...at };
    }
    const login_name =
      taken === undefined ? known(random, world, "login_name", "own_mail") : nameIn(taken);
    const password =
      taken === undefined
        ? known(random, world, "password", "new_password")
        : nameIn("password fresh");
    const totp = random.chance(0.3) ? known(random, world, "totp_secret") : undefined;
    if (login_name === undefined || password === undefined) return undefined;
    return { login_name, password, ...(totp === undefined ? {} : { totp }), ...at };
  },
  run: (world, words) =>
    logInAt(world, {
      client: optional(words, "client"),
      loginName: text(words, "login_name"),
      password: text(words, "password"),
      totp: optional(words, "totp"),
      passkey: words["passkey"] === true ? passkeyOf(world, text(words, "login_name")) : undefined,
    }),
};

/** The passkey that the attacker set up for whoever is called so. */
function passkeyOf({ book, passkeys }: World, loginName: string): Authenticator | undefined {
  const user = (book.nameOf(loginName) ?? "").replace(/^login name /, "user ");
  return book.knows(user) ? passkeys.get(book.textOf(user)) : undefined;
}

/** Logs in with a provider: the attacker's own says whatever they like, others say that it is not them. */
const logInByProvider: Action = {
  weight: 4,
  draw(random, world) {
    const idp = known(random, world, "idp");
    if (idp === undefined) return undefined;
    const subject = random.one(["subject-linked", "subject-chief", "subject-attacker"]) ?? "";
    return { idp, subject, email: known(random, world, "mail") ?? "" };
  },
  run(world, words) {
    const { attackers } = world.service;
    const email = text(words, "email");
    script(world.service, attackers, { sub: text(words, "subject"), email, email_verified: true });
    const visit = async (at: URL) => {
      if (at.origin !== attackers.issuer) return undefined;
      const answer = await fetch(at, { redirect: "manual" });
      return URL.parse(answer.headers.get("location") ?? "") ?? undefined;
    };
    const loginName = "linked";
    // The provider is of the organization, which the request has to name.
    const organization = world.book.textOf("domain alpha");
    return logInAt(world, { idp: text(words, "idp"), visit, loginName, organization });
  },
};

/** Asks for a link to set another password, on the page for those who forgot theirs. */
const forgot: Action = {
  weight: 1,
  draw(random, world) {
    const login_name = known(random, world, "login_name", "own_mail");
    return login_name === undefined ? undefined : { login_name };
  },
  async run(world, words) {
    const browser = browserOf(world.service, world.host);
    const page = await browser.open("/ui/login/password/forgot");
    const next = await browser.submit(page, { login_name: text(words, "login_name") });
    return { isDone: next?.status === 200, label: "forgot" };
  },
};

/** Reads the attacker's own mail. */
const readMail: Action = {
  weight: 1,
  draw: () => ({}),
  async run(world) {
    const mails = await mailbox(world, (to) => to.endsWith("@attacker.test"));
    return { isDone: mails.length > 0, label: "readMail", told: mails };
  },
};

/** Sets a password by what a mail said. */
const resetByMail: Action = {
  weight: 2,
  draw(random, world) {
    const login_name = known(random, world, "login_name", "own_mail");
    const code = known(random, world, "code");
    return login_name === undefined || code === undefined ? undefined : { login_name, code };
  },
  async run(world, words) {
    const browser = browserOf(world.service, world.host);
    const query = new URLSearchParams({
      login_name: text(words, "login_name"),
      code: text(words, "code"),
    });
    const page = await browser.open(`/ui/login/password/reset?${query}`);
    const fresh = world.book.textOf("password fresh");
    const fields = { new_password: fresh, new_password_repeated: fresh, repeated: fresh };
    const next = await browser.submit(page, { ...fields, code: text(words, "code") });
    const isDone = next !== undefined && next.path !== page.path;
    const id = world.led.get(text(words, "login_name"));
    if (isDone && id !== undefined) noteTaken(world, id, "taken");
    return { isDone, label: "resetByMail" };
  },
};

const newcomer = { given_name: "A", family_name: "B" };

/** Registers an account with an address of the attacker's, whose mail they read; with another's, as far as the pages go. */
const register: Action = {
  weight: 1,
  draw: (random, world) => ({
    email: known(random, world, random.chance(0.6) ? "own_mail" : "mail") ?? "",
    login_name: known(random, world, "login_name", "domain", "word") ?? "",
  }),
  async run(world, words) {
    const { book, service, host } = world;
    const browser = browserOf(service, host);
    const asked = { clientId: book.textOf("client console"), redirectUri: consoleUri };
    const start = authorizeUrl({ ...asked, scope: everything, prompt: "create" });
    const email = text(words, "email");
    const waiting = await browser.submit(await browser.open(start), { ...newcomer, email });
    const mails = await mailbox(world, (to) => to === email && to.endsWith("@attacker.test"));
    const code = mails[0]?.["code"];
    if (waiting?.path !== "/ui/login/verify" || code === undefined) {
      return { isDone: false, label: "register", why: waiting?.path ?? "" };
    }
    const account = await browser.submit(waiting, { code: String(code) });
    if (account === undefined) return { isDone: false, label: "register" };
    const named = account.html.includes('name="login_name"')
      ? { login_name: text(words, "login_name") }
      : {};
    const fresh = { new_password: book.textOf("password fresh"), ...named };
    const next = await browser.submit(account, fresh);
    const { page } = await walk(service, browser, next ?? account, { choice: "everything" });
    const { code: answer } = answerIn(page);
    const why = page.path;
    if (answer === undefined) return { isDone: false, label: "register", why };
    const client = { clientId: asked.clientId };
    const given = { code: answer, redirectUri: consoleUri };
    return told("register", await redeem(world, given, client));
  },
};

/** Goes to an app in a browser whose cookie was stolen, and redeems what comes back. */
const useCookie: Action = {
  weight: 1,
  draw: (random) => ({ client: random.one(["console", "account", "account"]) ?? "" }),
  run: (world, words) =>
    logInAt(world, { client: optional(words, "client") }, world.browser("stolen")),
};

/** What is done on the pages of the login. */
export const pageActions: Actions = {
  logIn,
  logInByProvider,
  useCookie,
  forgot,
  readMail,
  resetByMail,
  register,
};
