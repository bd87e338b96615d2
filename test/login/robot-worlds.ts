import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator } from "../support/authenticator.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { type LoginPages, loginPages, settingsPath } from "../support/login-pages.ts";
import type { MadeClient, OidcPeer } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { codesOf, personWhoMustSetUp, personWithTotp } from "./people.ts";
import type { Shown, UserAgent } from "../support/user-agent.ts";
import { goOn, type Played, type RobotWorld, type Settings } from "./robot.ts";

export const freshAddress = () => `${uniqueName("robot").replaceAll(" ", "")}@example.test`;

/**
 * Makes somebody whom the robot plays, who types what a field asks for.
 *
 * @param codeSentTo the code of the last mail to one of these addresses
 */
export const playing =
  (codeSentTo: LoginPages["codeSentTo"]) =>
  /**
   * @param addresses where mails reach them
   * @param codeAt the code that a page asks for, where it is none that was sent
   */
  (
    loginName: string,
    addresses: string[] = [],
    codeAt: (page: Shown) => string = () => "",
  ): Played => {
    const freshSent = () => {
      const address = freshAddress();
      addresses.push(address);
      return address;
    };
    return {
      values: {
        login_name: () => loginName,
        password: () => password,
        current_password: () => password,
        name: () => "A key",
        address: freshSent,
        number: () => "+41790000000",
        // What was forgotten is remembered; what must be changed is another one.
        new_password: ({ url }) =>
          url.pathname === "/ui/login/password/change" ? "another horse battery staple" : password,
        given_name: () => "Ada",
        family_name: () => "King",
        email: freshSent,
        code: (page) => codeAt(page) || codeSentTo(addresses),
      },
    };
  };

/** What a person has to prove themselves by, and what the settings say; each is one world of the robot. */
export function robotWorlds(peer: OidcPeer, client: MadeClient): Map<string, RobotWorld> {
  const { codeSentTo } = loginPages(peer, client);

  const played = playing(codeSentTo);

  async function withTotp(isWithMore: boolean): Promise<Played> {
    const address = freshAddress();
    const contact = { email: { address, is_verified: true } };
    const { id, loginName, next } = await personWithTotp(peer, { contact });
    const { recovery_codes } = bodyOf(await peer.post(`/users/${id}/recovery_codes`));
    if (isWithMore)
      bodyOf(await peer.post(`/users/${id}/otp_email`, { address, is_verified: true }));
    const codes: Record<string, () => string> = {
      "/ui/login/mfa/totp": next,
      "/ui/login/mfa/recovery": () => recovery_codes?.[0] ?? "",
    };
    return played(loginName, [address], ({ url }) => codes[url.pathname]?.() ?? "");
  }

  /** The code of the app that a page sets up. */
  function codeOfSetup({ html }: Shown): string {
    const secret = [...html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)].map(([, part]) => part);
    return secret.length === 0 ? "" : codesOf(peer, secret.join(""))();
  }

  const somebody = async (more: JsonObject = {}) =>
    played((await addPersonNamed(peer, more)).loginName);
  async function unproven() {
    const address = freshAddress();
    const person = await addPersonNamed(peer, { contact: { email: { address } } });
    return played(person.loginName, [address]);
  }
  const worldOf = (
    person: RobotWorld["person"],
    more: Record<string, string> = {},
  ): RobotWorld => ({
    issuer: peer.issuer,
    from: authorizeUrl(peer, client, more),
    person,
    // Budgets of messages fill up within an hour.
    rest: () => peer.pass(3_600_000),
    ends: ["/ui/account", loggedOut],
  });
  async function withMail() {
    const address = freshAddress();
    const contact = { email: { address, is_verified: true } };
    return played((await addPersonNamed(peer, { contact })).loginName, [address]);
  }
  /** The pages of an account, of whoever has signed in. */
  const accountOf = (person: RobotWorld["person"]): RobotWorld => ({
    ...worldOf(person),
    from: (agent, known) => signInTo(peer, "/ui/account", agent, known),
    ends: [loggedOut],
  });
  /** Who has a passkey, which the robot does not use: their recovery codes stand in for it. */
  async function withPasskey(): Promise<Played> {
    const address = freshAddress();
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact });
    const domain = new URL(peer.issuer).hostname;
    const begun = bodyOf(await peer.post(`/users/${id}/webauthn`, { domain }));
    const options: JsonObject = begun.public_key_credential_creation_options;
    const { origin } = new URL(peer.issuer);
    const public_key_credential = new Authenticator().create(options, { page: { origin } });
    const verify = { public_key_credential, web_auth_n_name: "A key" };
    bodyOf(await peer.post(`/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`, verify));
    const { recovery_codes } = bodyOf(await peer.post(`/users/${id}/recovery_codes`));
    const left: string[] = [...recovery_codes];
    return played(loginName, [address], ({ url }) =>
      url.pathname === "/ui/login/mfa/recovery" ? (left.shift() ?? "") : "",
    );
  }
  const trusting: Settings = { trusted_browser_lifetime: { set: "3600s" } };
  const byMail: Settings = { first_factors: { set: { value: ["email"] } } };
  const byMailAlone: Settings = {
    ...byMail,
    ...{ allow_username_password: { set: false }, passkeys_allowed: { set: false } },
  };
  const changing = { password: { password, change_required: true } };
  return new Map([
    ["a password", worldOf(() => somebody())],
    ["an address that was never proven", worldOf(unproven)],
    ["a password that must be changed", worldOf(() => somebody({ authenticators: changing }))],
    ["an authenticator app and recovery codes", worldOf(() => withTotp(false))],
    ["an app, codes by mail and recovery codes", worldOf(() => withTotp(true))],
    [
      "no second factor, where one is demanded",
      worldOf(async () => played(await personWhoMustSetUp(peer), [], codeOfSetup)),
    ],
    ["no account", worldOf(() => somebody(), { prompt: "create" })],
    ["no app that waits", { ...worldOf(() => somebody()), from: `${peer.issuer}/ui/login` }],
    ["a code by mail, or a password", { ...worldOf(withMail), settings: byMail }],
    ["a code by mail alone", { ...worldOf(withMail), settings: byMailAlone }],
    [
      "a code by mail and an authenticator app",
      { ...worldOf(() => withTotp(true)), settings: byMail },
    ],
    [
      "no account, where nobody has a password",
      { ...worldOf(() => somebody(), { prompt: "create" }), settings: byMailAlone },
    ],
    [
      "a browser that makes passkeys by itself",
      {
        ...worldOf(async () => {
          const { values } = await somebody();
          return { values: { ...values, prepares_passkeys: () => "true" } };
        }),
        settings: { prepare_passkeys: { set: true } },
      },
    ],
    ["the account of somebody with a password", accountOf(withMail)],
    ["the account of somebody with an authenticator app", accountOf(() => withTotp(false))],
    [
      "the account of somebody with an app, codes by mail and recovery codes",
      accountOf(() => withTotp(true)),
    ],
    [
      "the account of somebody who may trust the browser",
      { ...accountOf(() => withTotp(false)), settings: trusting },
    ],
    ["the account of somebody with a passkey", accountOf(withPasskey)],
    [
      "the account of somebody who logs in by mail alone",
      { ...accountOf(withMail), settings: byMailAlone },
    ],
    [
      "the account of somebody who had to set up a second factor",
      accountOf(async () => played(await personWhoMustSetUp(peer), [], codeOfSetup)),
    ],
    ["the account of somebody whose address was never proven", accountOf(unproven)],
  ]);
}

export const loggedOut = "/ui/login/logout/done";

const mostSteps = 12;

/** Goes to a page that needs a log-in, and answers whatever the log-in asks for: the first button, or what is preferred. */
export async function signInTo(
  world: Pick<RobotWorld, "issuer" | "onward">,
  path: string,
  agent: UserAgent,
  person: Played,
  preferred = /^(?:Recovery code|Authenticator app)\b/,
): Promise<Shown> {
  let shown = await agent.open(path);
  for (let steps = 0; shown.url.pathname !== path; steps++) {
    assert.ok(steps < mostSteps, `${shown.url} leads to no end: ${shown.html}`);
    shown = await goOn(agent, person, world, preferred);
  }
  return shown;
}

/** Does something while settings of log-ins are others than they were. */
export async function within<T>(
  peer: OidcPeer,
  settings: Settings = {},
  work: () => Promise<T>,
): Promise<T> {
  const change = async (values: Settings) => {
    const { token } = peer.app;
    const path = `${settingsPath}/login`;
    bodyOf(await peer.peer.rest("PATCH", path, { ...values } as JsonObject, { token }));
  };
  await change(settings);
  try {
    return await work();
  } finally {
    const names = Object.keys(settings);
    await change(Object.fromEntries(names.map((name) => [name, { reset: true }])));
  }
}
