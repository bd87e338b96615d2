import { yieldToEventLoop } from "../yielder.ts";
import type { Snapshots } from "./database.ts";

/** The same snapshots, which yield to the event loop before their queries are built and before their rows are returned. */
export const yielding = ({ snapshot }: Snapshots): Snapshots => ({
  async snapshot(build) {
    await yieldToEventLoop();
    const found = await snapshot(build);
    await yieldToEventLoop();
    return found;
  },
});
