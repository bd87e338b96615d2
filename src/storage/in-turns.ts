import { nextTurn } from "../yielder.ts";
import type { Snapshots } from "./database.ts";

/** Snapshots whose queries are written in a turn of the event loop of their own; what is done with the rows has another. */
export const inTurns = ({ snapshot }: Snapshots): Snapshots => ({
  async snapshot(build) {
    await nextTurn();
    const found = await snapshot(build);
    await nextTurn();
    return found;
  },
});
