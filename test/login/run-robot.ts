import { startOidc } from "../support/oidc.ts";
import { explore } from "./robot.ts";
import { robotWorlds, within } from "./robot-worlds.ts";

// `npm run login:robot [name ...]` clicks every link and button of the login in every world of `robot-worlds.ts`, or in those that are
// named, and tells how many states of pages it came to. It ends with 1 for states from which no end is reached.

const wanted = process.argv.slice(2);
await using peer = await startOidc();
const client = await peer.addClient();
for (const [name, world] of robotWorlds(peer, client)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { states, tried, stuck } = await within(peer, world.settings, () =>
    explore(world, Number.POSITIVE_INFINITY),
  );
  console.log(`${name}: ${tried} links and buttons of ${states} states`);
  for (const path of stuck) console.log(`  no end is reached from ${path}`);
  if (stuck.length > 0) process.exitCode = 1;
}
