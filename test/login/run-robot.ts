import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { startProviderWorld } from "./provider-world.ts";
import { explore, type RobotWorld } from "./robot.ts";
import { providerWorlds } from "./robot-providers.ts";
import { robotWorlds, within } from "./robot-worlds.ts";

// `npm run login:robot [name ...]` clicks every link and button of the login in every world of `robot-worlds.ts`, or in those that are
// named, and tells how many states of pages it came to. It ends with 1 for states from which no end is reached.

const wanted = process.argv.slice(2);
await using peer = await startOidc();
await using providers = await startProviderWorld();
await walk(peer, robotWorlds(peer, await peer.addClient()));
await walk(providers.peer, await providerWorlds(providers));

async function walk(at: OidcPeer, worlds: ReadonlyMap<string, RobotWorld>): Promise<void> {
  for (const [name, world] of worlds) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const begun = performance.now();
    const { states, tried, stuck } = await within(at, world.settings, () =>
      explore(world, Number.POSITIVE_INFINITY),
    );
    const seconds = Math.round((performance.now() - begun) / 1_000);
    console.log(`${name}: ${tried} links and buttons of ${states} states, ${seconds} s`);
    for (const path of stuck) console.log(`  no end is reached from ${path}`);
    if (stuck.length > 0) process.exitCode = 1;
  }
}
