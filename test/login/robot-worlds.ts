import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { loginPages, settingsPath } from "../support/login-pages.ts";
import type { MadeClient, OidcPeer } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import type { Shown, UserAgent } from "../support/user-agent.ts";
import { personWhoMustSetUp } from "./people.ts";
import type { RobotWorld, Settings } from "./robot.ts";
import { goOn, type Played, type Surroundings } from "./robot-actions.ts";
import {
  type Factor,
  factors,
  freshAddress,
  type Known,
  personWith,
  type Play,
  playing,
} from "./robot-people.ts";

export const loggedOut = "/ui/login/logout/done";

/** What worlds are made of, at one service and one app of it. */
export type Robot = {
  play: Play;
  /** Somebody with a password and these factors. */
  having(...held: readonly Factor[]): () => Promise<Known>;
  somebody(more?: JsonObject): Promise<Played>;
  /** Somebody whose address was never proven. */
  unproven(): Promise<Played>;
  /** A log-in at the app. */
  logInOf(person: RobotWorld["person"], more?: Record<string, string>): RobotWorld;
  /** The pages of an account, of whoever has signed in. */
  accountOf(person: RobotWorld["person"]): RobotWorld;
};

export function robotAt(peer: OidcPeer, client: MadeClient): Robot {
  const { codeSentTo } = loginPages(peer, client);
  const play = playing(peer, codeSentTo);
  const logInOf: Robot["logInOf"] = (person, more = {}) => ({
    issuer: peer.issuer,
    from: authorizeUrl(peer, client, more),
    person,
    // Budgets of messages fill up within an hour.
    rest: () => peer.pass(3_600_000),
    ends: ["/ui/account", loggedOut],
  });
  return {
    play,
    logInOf,
    having:
      (...held) =>
      () =>
        personWith(peer, play, held),
    somebody: async (more = {}) => play((await addPersonNamed(peer, more)).loginName),
    async unproven() {
      const address = freshAddress();
      const person = await addPersonNamed(peer, { contact: { email: { address } } });
      return play(person.loginName, { addresses: [address] });
    },
    accountOf: (person) => ({
      ...logInOf(person),
      from: (agent, known) => signInTo(peer, "/ui/account", agent, known),
      ends: [loggedOut],
    }),
  };
}

export const byMail: Settings = { first_factors: { set: { value: ["email"] } } };
export const byMailAlone: Settings = {
  ...byMail,
  allow_username_password: { set: false },
  passkeys_allowed: { set: false },
};

/** What a person has to prove themselves by, and what the settings say; each is one world of the robot. */
export function robotWorlds(peer: OidcPeer, client: MadeClient): Map<string, RobotWorld> {
  const { play, having, somebody, unproven, logInOf, accountOf } = robotAt(peer, client);
  const mustSetUp = async () => play(await personWhoMustSetUp(peer));
  const trusting: Settings = { trusted_browser_lifetime: { set: "3600s" } };
  const changing = { password: { password, change_required: true } };
  return new Map([
    ["a password", logInOf(() => somebody())],
    ["an address that was never proven", logInOf(unproven)],
    ["a password that must be changed", logInOf(() => somebody({ authenticators: changing }))],
    ["an authenticator app and recovery codes", logInOf(having("totp", "recovery"))],
    ["an app, codes by mail and recovery codes", logInOf(having("totp", "recovery", "email"))],
    ["no second factor, where one is demanded", logInOf(mustSetUp)],
    ["no account", logInOf(() => somebody(), { prompt: "create" })],
    ["no app that waits", { ...logInOf(() => somebody()), from: `${peer.issuer}/ui/login` }],
    ["a code by mail, or a password", { ...logInOf(having()), settings: byMail }],
    ["a code by mail alone", { ...logInOf(having()), settings: byMailAlone }],
    [
      "a code by mail and an authenticator app",
      { ...logInOf(having("totp", "recovery", "email")), settings: byMail },
    ],
    [
      "no account, where nobody has a password",
      { ...logInOf(() => somebody(), { prompt: "create" }), settings: byMailAlone },
    ],
    [
      "a browser that makes passkeys by itself",
      {
        ...logInOf(async () => {
          const person = await somebody();
          return { ...person, values: { ...person.values, prepares_passkeys: () => "true" } };
        }),
        settings: { prepare_passkeys: { set: true } },
      },
    ],
    ["the account of somebody with a password", accountOf(having())],
    ["the account of somebody with an authenticator app", accountOf(having("totp", "recovery"))],
    [
      "the account of somebody with an app, codes by mail and recovery codes",
      accountOf(having("totp", "recovery", "email")),
    ],
    [
      "the account of somebody who may trust the browser",
      { ...accountOf(having("totp", "recovery")), settings: trusting },
    ],
    ["the account of somebody with a passkey", accountOf(having("passkey", "recovery"))],
    [
      "the account of somebody who logs in by mail alone",
      { ...accountOf(having()), settings: byMailAlone },
    ],
    ["the account of somebody who had to set up a second factor", accountOf(mustSetUp)],
    ["the account of somebody whose address was never proven", accountOf(unproven)],
  ]);
}

/** Each combination of factors beside a password; and those with none and with all of them, under each setting of the log-in. */
export function combinedWorlds(peer: OidcPeer, client: MadeClient): Map<string, RobotWorld> {
  const { having, logInOf, accountOf } = robotAt(peer, client);
  const worlds: [string, readonly Factor[], Settings?][] = subsetsOf(factors).map((held) => [
    `password ${held.join(" ")}`.trim(),
    held,
  ]);
  const off = { set: false };
  const on = { set: true };
  const each: Record<string, Settings> = {
    "no registration": { allow_register: off },
    "no reset of passwords": { hide_password_reset: on },
    "unknown names are asked on": { ignore_unknown_usernames: on },
    "no passkeys": { passkeys_allowed: off },
    "two factors": { force_mfa: on },
    "an app alone as second factor": { second_factors: { set: { value: ["totp"] } } },
    "trusted browsers": { trusted_browser_lifetime: { set: "3600s" } },
    "prepared passkeys": { prepare_passkeys: on },
    "codes by mail first": byMail,
    "nobody has a password": byMailAlone,
  };
  for (const [what, settings] of Object.entries(each)) {
    for (const held of [[], factors]) {
      worlds.push([`${what}, ${held.length === 0 ? "password" : "all factors"}`, held, settings]);
    }
  }
  const all = (kind: string, of: typeof accountOf) =>
    worlds.map(([name, held, settings]): [string, RobotWorld] => [
      `${kind}: ${name}`,
      { ...of(having(...held)), ...(settings && { settings }) },
    ]);
  // Accounts have many more pages: where somebody ends the run, the log-ins have been tried.
  return new Map([...all("log-in", logInOf), ...all("account", accountOf)]);
}

const subsetsOf = <T>([first, ...rest]: readonly T[]): T[][] =>
  first === undefined ? [[]] : subsetsOf(rest).flatMap((each) => [each, [first, ...each]]);

const mostSteps = 12;

/** Goes to a page that needs a log-in, and answers whatever the log-in asks for: the first button, or what is preferred. */
export async function signInTo(
  world: Surroundings,
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
