import assert from "node:assert/strict";
import { makeRecoveryLink } from "../../src/app/recover.ts";
import { paths as login } from "../../src/login/paths.ts";
import { addPersonNamed, authorizeUrl, signedIn, signIn } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, paths as oidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import type { RobotWorld, Settings } from "./robot.ts";
import { freshAddress, type Known } from "./robot-people.ts";
import { byMailAlone, loggedOut, robotAt } from "./robot-worlds.ts";

const ownApi = "openid offline_access urn:idsvc:iam:org:project:id:idsvc:aud";

/** The worlds of the robot that begin elsewhere than at a new log-in: at a link of a mail, a device, a browser with a past. */
export async function doorWorlds(
  peer: OidcPeer,
  client: MadeClient,
): Promise<Map<string, RobotWorld>> {
  const { lastMail } = loginPages(peer, client);
  const { having, logInOf, play } = robotAt(peer, client);
  const tv = await peer.addClient({
    app_type: "OIDC_APP_TYPE_NATIVE",
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    redirect_uris: [],
    grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
  });

  async function linkOfLastMail(): Promise<string> {
    const { text } = await lastMail();
    const [link] = /https?:[^\s"]+/.exec(text) ?? [];
    assert.ok(link !== undefined, text);
    return link.replaceAll("&amp;", "&");
  }
  /** A world that begins as somebody with these factors comes to it. */
  const beginning = (
    from: (agent: UserAgent, person: Known) => Promise<Shown>,
    { person = having(), settings }: { person?: () => Promise<Known>; settings?: Settings } = {},
  ): RobotWorld => {
    const persons = new WeakMap<object, Known>();
    return {
      ...logInOf(async () => {
        const known = await person();
        persons.set(known.values, known);
        return known;
      }),
      async from(agent, played) {
        const known = persons.get(played.values);
        assert.ok(known !== undefined, "whom the world has made");
        return from(agent, known);
      },
      ends: [login.account, loggedOut, login.deviceDone],
      ...(settings && { settings }),
    };
  };
  const authorize = (more: Record<string, string> = {}) => authorizeUrl(peer, client, more);
  async function logIn(agent: UserAgent, { loginName }: Known): Promise<void> {
    await agent.open(authorize());
    const { left, html } = await signIn(agent, loginName);
    assert.ok(left !== undefined, html);
  }
  /** A device that shows a code, which its user types or finds in the link. */
  function device(address: "verification_uri" | "verification_uri_complete"): RobotWorld {
    let typed = "";
    return beginning(
      async (agent) => {
        const form = { client_id: tv.clientId, scope: "openid profile" };
        const { body } = await peer.send(oidc.device, form);
        typed = String(body.user_code);
        return agent.open(String(body[address]));
      },
      {
        async person() {
          const known = await having()();
          return { ...known, values: { ...known.values, user_code: () => typed } };
        },
      },
    );
  }

  return new Map([
    [
      "a link that proves an address",
      beginning(async (agent) => agent.open(await linkOfLastMail()), {
        async person() {
          const address = freshAddress();
          const { id, loginName } = await addPersonNamed(peer, { contact: { email: { address } } });
          bodyOf(await peer.post(`/users/${id}/email/_resend`, { send_code: {} }));
          return { ...play(loginName, { addresses: [address] }), id, loginName, address };
        },
      }),
    ],
    [
      "a link to a new password",
      beginning(async (agent, { loginName }) => {
        const asking = userAgent(peer.issuer);
        await asking.open(login.forgotPassword);
        await asking.submit({ login_name: loginName });
        return agent.open(await linkOfLastMail());
      }),
    ],
    [
      "a link to log in, in another browser",
      beginning(
        async (agent, { loginName }) => {
          const asking = userAgent(peer.issuer);
          await asking.open(login.begin);
          await asking.submit({ login_name: loginName });
          await asking.submit({ send: "true" });
          return agent.open(await linkOfLastMail());
        },
        { settings: byMailAlone },
      ),
    ],
    [
      "it was not me",
      beginning(async (agent, known) => {
        await signedIn(peer, client, known.loginName);
        await signedIn(peer, client, known.loginName);
        return agent.open(await linkOfLastMail());
      }),
    ],
    [
      "an invitation to make a passkey",
      beginning(async (agent, { id }) => {
        bodyOf(await peer.post(`/users/${id}/webauthn/registration_link`, { send_link: {} }));
        return agent.open(await linkOfLastMail());
      }),
    ],
    [
      "a way back in that was made on the machine",
      beginning(
        async (agent, { loginName }) => {
          const made = await makeRecoveryLink(peer.app.kernel, { loginName, domain: undefined });
          return agent.open(made.link);
        },
        { person: having("totp", "recovery") },
      ),
    ],
    ["a device whose code is typed", device("verification_uri")],
    ["a device whose code is in the link", device("verification_uri_complete")],
    [
      "an app that wants to act for somebody",
      beginning((agent) => agent.open(authorize({ scope: ownApi }))),
    ],
    [
      "a browser in which two are signed in",
      beginning(async (agent, known) => {
        await logIn(agent, known);
        const other = await having()();
        await agent.open(authorize({ prompt: "login", login_hint: other.loginName }));
        await signIn(agent, other.loginName);
        return agent.open(authorize({ prompt: "select_account" }));
      }),
    ],
    [
      "an app that asks for the password of who is signed in",
      beginning(async (agent, known) => {
        await logIn(agent, known);
        return agent.open(authorize({ prompt: "login" }));
      }),
    ],
    [
      "an app that asks for two factors of who has none",
      beginning((agent) => agent.open(authorize({ acr_values: "urn:idsvc:acr:mfa" }))),
    ],
    [
      "an app that asks for a passkey of who has one",
      beginning((agent) => agent.open(authorize({ acr_values: "phr" })), {
        person: having("passkey", "recovery"),
      }),
    ],
    [
      "a logout that an app asks for",
      beginning(async (agent, known) => {
        await logIn(agent, known);
        return agent.open("/oidc/v1/end_session");
      }),
    ],
    [
      "a log-in that is over",
      beginning(async (agent, { loginName }) => {
        await agent.open(authorize());
        const { url } = await agent.submit({ login_name: loginName });
        await signIn(agent, loginName);
        return agent.open(url);
      }),
    ],
    [
      "a log-in of another browser",
      beginning(async (agent, { loginName }) => {
        const other = userAgent(peer.issuer);
        await other.open(authorize());
        return agent.open((await other.submit({ login_name: loginName })).url);
      }),
    ],
    ["no page", beginning((agent) => agent.open("/ui/login/nothing"))],
    [
      "an app that nobody knows",
      beginning((agent) => agent.open(authorizeUrl(peer, { clientId: "nobody" }))),
    ],
    ["the bare address", beginning((agent) => agent.open("/"))],
  ]);
}
