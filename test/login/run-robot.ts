import { existsSync } from "node:fs";
import { Command } from "commander";
import { accountPaths } from "../../src/account/paths.ts";
import { paths } from "../../src/login/paths.ts";
import { startDirectory } from "../support/directory.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { type ProviderWorld, startProviderWorld } from "./provider-world.ts";
import { explore, type RobotWorld } from "./robot.ts";
import { type Experience, robotExperience } from "./robot-map.ts";
import { doorWorlds } from "./robot-doors.ts";
import { directoryPeople, providerWorlds } from "./robot-providers.ts";
import { combinedWorlds, robotWorlds, within } from "./robot-worlds.ts";

// `npm run login:robot -- [name ...]` clicks every link and button of the login and of accounts in every world of the robot, or in those
// whose names hold one of these words, and tells how many states of pages it came to. It ends with 1 for what is wrong with a page, for
// states from which no end is reached, and, where no names are given, for pages that no world came to. Answers that take as long for
// everybody are most of the time: so several worlds are walked at once (`--at-once 8`), each at a service of its own.

const command = new Command("login:robot")
  .description(
    "Clicks every link and button of the login and of accounts in every world of the robot.",
  )
  .argument("[name...]", "words: only worlds whose names hold one of them")
  .option("--at-once <count>", "how many worlds are walked at the same time", "8")
  .parse();
const { atOnce } = command.opts<{ atOnce: string }>();
const wanted = command.args;
// What only leads on, what is no page, and what is for developers.
const unseen = new Set<string>([
  paths.begin,
  paths.mfaChoice,
  paths.assets,
  paths.error,
  paths.developmentMail,
]);

// In memory, where there is such a folder: a commit on a disk takes as long as the rest of a call.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";

const taken = new Set<string>();
const experiences = new Map<string, Experience>();
const seen = new Set<string>();
await using directory = await startDirectory(directoryPeople);
const walks = [walkAtProviders(await startProviderWorld())];
// One after the other, as a start makes keys.
while (walks.length < Number(atOnce)) walks.push(walkAt(await startOidc()));
await Promise.all(walks);
const missing = [...Object.values(paths), ...Object.values(accountPaths)].filter(
  (path) => !seen.has(path) && !unseen.has(path),
);
if (wanted.length === 0 && missing.length > 0) {
  console.log(`no world came to ${[...new Set(missing)].join(", ")}`);
  process.exitCode = 1;
}

async function walkAtProviders(providers: ProviderWorld): Promise<void> {
  await using _ = providers;
  for (const [name, world] of await providerWorlds(providers, directory))
    await walk(name, world, providers.peer);
}

/** Walks worlds that nobody else walks, until none is left. */
async function walkAt(started: OidcPeer): Promise<void> {
  await using peer = started;
  const client = await peer.addClient();
  const here = [robotWorlds(peer, client), await doorWorlds(peer, client)];
  for (const worlds of [...here, combinedWorlds(peer, client)])
    for (const [name, world] of worlds) await walk(name, world, peer);
}

async function walk(name: string, world: RobotWorld, peer: OidcPeer): Promise<void> {
  if (taken.has(name)) return;
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) return;
  taken.add(name);
  const begun = performance.now();
  const settings = JSON.stringify(world.settings ?? {});
  const experience = experiences.get(settings) ?? robotExperience();
  experiences.set(settings, experience);
  const { states, tried, spared, stuck, faults, unreached, ...more } = await within(
    peer,
    world.settings,
    () => explore(world, Number.POSITIVE_INFINITY, experience),
  );
  for (const path of more.paths) seen.add(path);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  console.log(
    `${name}: ${tried} links and buttons of ${states} states, ${spared} known, ${seconds} s`,
  );
  for (const path of stuck) console.log(`  no end is reached from ${path}`);
  for (const fault of faults) console.log(`  ${fault}`);
  for (const action of unreached) console.log(`  not come to again: ${action}`);
  if (stuck.length + faults.length > 0) process.exitCode = 1;
}
