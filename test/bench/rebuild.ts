// `npm run bench:rebuild`: how many events a second a rebuild of the projections replays, and how long it holds the event loop.
import { parseArgs } from "node:util";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { measureHolds } from "../support/loop-holds.ts";
import { newStore, seed, withKernel } from "./store.ts";

const { values } = parseArgs({ options: { events: { type: "string", default: "50000" } } });
const events = Number(values.events);

using store = await newStore();
await withKernel(store.dir, async (kernel) => {
  await seed(kernel, store.made.instance_id, events);
  const began = performance.now();
  using holds = measureHolds();
  await rebuildProjections(kernel, kernel.projectionTables);
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${events} events: ${Math.round(events / seconds)} a second, the event loop held for ${holds.longestMs().toFixed(1)} ms of the processor at most`,
  );
});
