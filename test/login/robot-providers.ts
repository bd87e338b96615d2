import type { JsonObject } from "@bufbuild/protobuf";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import type { ProviderWorld } from "./provider-world.ts";
import type { Played, RobotWorld } from "./robot.ts";
import { freshAddress, loggedOut, playing, signInTo } from "./robot-worlds.ts";

/** The worlds of the robot in which people come from a provider: with an account here, with none, and with nothing else. */
export async function providerWorlds(world: ProviderWorld): Promise<Map<string, RobotWorld>> {
  const { peer, app, fake, pages } = world;
  const options = { is_linking_allowed: true, is_creation_allowed: true };
  const idpId = await world.addForgeB({ options });
  const played = playing(pages.codeSentTo);

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
    return played(uniqueName("nobody"), [String(fake.script.user["email"])]);
  }
  /** Somebody whose account at the provider is linked to one here. */
  async function linked(more: JsonObject = {}): Promise<Played> {
    meetSomebody();
    const address = freshAddress();
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact, ...more });
    const link = { idp_id: idpId, user_id: fake.script.user.sub };
    bodyOf(await peer.post(`/users/${id}/idps`, { link }));
    return played(loginName, [address]);
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
    ["the account of somebody with a linked provider", accountOf(() => linked())],
    [
      "the account of somebody with a provider and nothing else",
      accountOf(() => linked({ authenticators: {} })),
    ],
  ]);
}

// Budgets of messages fill up within an hour.
const restMs = 3_600_000;

/** Where a page leads by itself. */
const refreshOf = (headers: Headers): string | undefined =>
  /^0; url=(.*)$/.exec(headers.get("refresh") ?? "")?.[1];
