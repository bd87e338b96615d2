import { both, type Fault, newOutcome } from "./fault.ts";
import { importAndKill } from "./import-kill.ts";

const users = 3_000;
const kills = 3;

/** Imports while the server is killed: as often as rounds, a store each. */
export const importKilled: Fault = {
  id: "F29",
  title: "import killed three times on its way, with a wrong record in its middle",
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
      outcome.acknowledged += users;
      outcome.lost.push(...violations.map((each) => `round ${outcome.rounds}: ${each}`));
    }
    outcome.remark = `${users} users a round, at most ${Math.round(highest)} MB`;
    return outcome;
  },
};
