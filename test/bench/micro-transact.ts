// Row 20, a process of its own: EventStore.transact beside the same statements by hand, every unit on disk.
import { targets } from "../../src/resources/action/target/target.ts";
import { microRounds, microTiming, printRates } from "./micro.ts";
import { openRaw, rawStore } from "./raw-append.ts";
import { newStore, targetConfig, withKernel, writer } from "./store.ts";

const writers = 32;
using store = await newStore();
using rawPlace = await newStore();
const instanceId = store.made.instance_id;
const owner = { type: "instance" as const, id: instanceId };
const connection = openRaw(rawPlace.file);
const raw = rawStore(connection, rawPlace.made.instance_id);
let made = 0;
const nextName = () => `made ${String(made++).padStart(8, "0")}`;
const indexes = Array.from({ length: writers }, (_, at) => at);

// A flush takes as long as the disk likes: many short rounds, so that both sides see the same disk.
const { rounds, ms } = microTiming();
const often = { rounds: rounds * 6, ms: ms / 2 };

const rates = await withKernel(store, async ({ events, newId }) => {
  const one = () =>
    events.transact(writer(instanceId), async (tx) => {
      const loaded = await tx.load(targets.aggregate, newId());
      const happened = targets.add(loaded.state, targetConfig(nextName()));
      tx.record(targets.aggregate, loaded, happened, owner);
    });
  return microRounds(
    {
      "transact-1": { count: 1, run: one },
      "raw transact-1": { count: 1, run: () => raw.each(nextName()) },
      "transact-32": { count: writers, run: () => Promise.all(indexes.map(one)) },
      "raw transact-32": {
        count: writers,
        run: () => raw.group(() => indexes.map(() => raw.append(nextName()))),
      },
    },
    often,
  );
});
connection.close();
printRates(rates);
