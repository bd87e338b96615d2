import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Directory, Person } from "../support/directory.ts";
import { mostProviders } from "../../src/login/pages/login-name.ts";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import type { ProviderWorld } from "./provider-world.ts";
import type { RobotWorld } from "./robot.ts";
import type { Played } from "./robot-actions.ts";
import { freshAddress, playing } from "./robot-people.ts";
import { loggedOut, signInTo } from "./robot-worlds.ts";

/** The worlds of the robot in which people come from a provider: with an account here, with none, and with nothing else. */
export async function providerWorlds(
  world: ProviderWorld,
  directory: Directory,
): Promise<Map<string, RobotWorld>> {
  const { peer, app, fake, pages } = world;
  const options = { is_linking_allowed: true, is_creation_allowed: true };
  const idpId = await world.addForgeB({ options });
  const { url, baseDn: base_dn, bindDn: bind_dn, bindPassword: bind_password } = directory;
  const attributes = {
    id_attribute: "uid",
    first_name_attribute: "givenName",
    last_name_attribute: "sn",
    email_attribute: "mail",
  };
  const config = { servers: [url], base_dn, bind_dn, bind_password, timeout: "2s", attributes };
  await world.addIdp("ldap", config, options);
  const play = playing(peer, pages.codeSentTo);

  let passedMs = 0;
  /** Somebody new at the provider, whose clock is the service's. */
  function meetSomebody(): void {
    fake.reset();
    const now = Math.floor((Date.now() + passedMs) / 1_000);
    fake.script.idToken = { iat: now, auth_time: now, exp: now + 300 };
  }
  /** Somebody of whom nothing is known here. */
  function stranger(): Played {
    meetSomebody();
    return play(uniqueName("nobody"), { addresses: [String(fake.script.user["email"])] });
  }
  /** Somebody whose account at the provider is linked to one here. */
  async function linked(more: JsonObject = {}): Promise<Played> {
    meetSomebody();
    const address = freshAddress();
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact, ...more });
    const link = { idp_id: idpId, user_id: fake.script.user.sub };
    bodyOf(await peer.post(`/users/${id}/idps`, { link }));
    return play(loginName, { addresses: [address] });
  }

  let isAmongMany = false;
  /** A stranger, where the first page leads to another one for the rest of the providers. */
  async function amongMany(): Promise<Played> {
    if (!isAmongMany)
      for (let at = 0; at < mostProviders; at += 1) await world.addForgeB({ options });
    isAmongMany = true;
    return stranger();
  }

  let met = 0;
  /** Somebody of the directory of whom nothing is known here. */
  function inDirectory(): Played {
    const person = directoryPeople[met];
    assert.ok(person !== undefined, "the directory has no more people");
    met += 1;
    const known = play(person.uid, { addresses: [String(person["mail"])] });
    return { ...known, values: { ...known.values, password: () => person.password } };
  }

  const base: Omit<RobotWorld, "from" | "person"> = {
    issuer: peer.issuer,
    rest() {
      passedMs += restMs;
      peer.pass(restMs);
    },
    ends: ["/ui/account", loggedOut],
    async onward(agent, shown) {
      const to = shown.left ?? new URL(refreshOf(shown.headers) ?? shown.url);
      return to.origin === fake.issuer ? agent.open(await world.visit(to)) : shown;
    },
  };
  // The button is named for the provider, and that for its type.
  const byProvider = /forge_b/;
  const accountOf = (person: RobotWorld["person"]): RobotWorld => ({
    ...base,
    person,
    from: (agent, known) => signInTo(base, "/ui/account", agent, known, byProvider),
    ends: [loggedOut],
  });
  const logInOf = (person: RobotWorld["person"]): RobotWorld => ({
    ...base,
    person,
    from: authorizeUrl(peer, app),
  });
  return new Map([
    ["a linked provider", logInOf(() => linked())],
    ["a provider, and no account", logInOf(async () => stranger())],
    ["a directory, and no account", logInOf(async () => inDirectory())],
    ["the account of somebody with a linked provider", accountOf(() => linked())],
    [
      "the account of somebody with a provider and nothing else",
      accountOf(() => linked({ authenticators: {} })),
    ],
    // The last one, as the others are for a page that shows all providers.
    ["more providers than the first page shows", logInOf(amongMany)],
  ]);
}

/** Whom the directory has: each log-in is somebody's first. */
export const directoryPeople: readonly Person[] = Array.from({ length: 500 }, (_, at) => ({
  uid: `uid${at}`,
  password: "Mona's secret",
  givenName: "Mona",
  sn: "Lisa",
  mail: `uid${at}@directory.test`,
}));

// Budgets of messages fill up within an hour.
const restMs = 3_600_000;

/** Where a page leads by itself. */
const refreshOf = (headers: Headers): string | undefined =>
  /^0; url=(.*)$/.exec(headers.get("refresh") ?? "")?.[1];
