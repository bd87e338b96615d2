import { both, type Fault, newOutcome } from "./fault.ts";
import { importAndCut } from "./import-cut.ts";
import { importAndKill } from "./import-kill.ts";

const users = 3_000;
const kills = 3;
const cuts = 10;

/** Imports while the server is killed, and imports whose bodies break off: as often as rounds, a store each. */
export const importKilled: Fault = {
  id: "F29",
  title:
    "import killed three times, or cut ten times in its body, with a wrong record in its middle",
  engines: both,
  rounds: { usual: 1, full: 10 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    let highest = 0;
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const { violations, highestRssMb } = await importAndKill(store, { users, kills });
      highest = Math.max(highest, highestRssMb);
      outcome.rounds += 1;
      outcome.struck += kills;
      outcome.acknowledged += 2 * users;
      await using another = await arena.newStore();
      violations.push(...(await importAndCut(another, { users, cuts })));
      outcome.struck += cuts;
      outcome.lost.push(...violations.map((each) => `round ${outcome.rounds}: ${each}`));
    }
    outcome.remark = `${users} users a round, at most ${Math.round(highest)} MB`;
    return outcome;
  },
};
