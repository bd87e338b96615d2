// `npm run bench:soak`: memory and p99 while creates, reads and searches take turns.
import { optionsOf } from "../../.ci/options.ts";
import { counterMark } from "./load/spec.ts";
import { median } from "./judge.ts";
import { sampleOf, type BenchCase } from "./measure.ts";
import { residentMiB } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import { newStore, startService } from "./store.ts";

const flags = optionsOf("Memory and p99 while creates, reads and searches take turns.", {
  minutes: ["1", "how long"],
});
const minutes = Number(flags.minutes);
const slotSeconds = 10;
const tolerance = 0.1;
const path = "/resources/v3alpha/targets";

using store = await newStore(10_000);
const { token } = store;
const { child } = await startService(store.dir);
await using service = child;
const search = restSpec(service.port, `POST ${path}/_search?query.limit=10`, { token, body: [] });
const { result } = await callJson(search);
const id: unknown = Object(Array.isArray(result) ? result[0] : undefined).details?.id;
const body = { name: `soak ${counterMark}`, rest_webhook: { url: "https://example.com/" } };
const works: BenchCase[] = [
  {
    name: "create",
    load: restSpec(service.port, `POST ${path}`, { token, body, counted: true, connections: 32 }),
  },
  { name: "get", load: restSpec(service.port, `GET ${path}/${String(id)}`, { token }) },
  { name: "search", load: search },
].map((work) => ({ ...work, pid: service.pid, verify: async () => void (await callJson(search)) }));

const resident: number[] = [];
const slots = Math.max(1, Math.round((minutes * 60) / slotSeconds));
// Of ten seconds: half of the time writes.
const shares = [5, 3, 2];
process.stdout.write("second  MiB   create/s  p99    get/s  p99   search/s  p99\n");
for (let slot = 1; slot <= slots; slot++) {
  const cells: string[] = [];
  for (const [at, work] of works.entries()) {
    const { rate, p99 } = await sampleOf(work, shares[at] ?? 1);
    cells.push(`${rate.toFixed(0).padStart(9)} ${p99.toFixed(1).padStart(6)}`);
  }
  const mib = residentMiB(service.pid);
  resident.push(mib);
  process.stdout.write(
    `${String(slot * slotSeconds).padStart(6)} ${mib.toFixed(0).padStart(5)} ${cells.join("")}\n`,
  );
}
// The first minute warms up; a shorter soak has only its second half.
const warm = Math.min(60 / slotSeconds, Math.floor(resident.length / 2));
const steady = resident.slice(warm);
const growth = (steady.at(-1) ?? 0) / (steady[0] ?? 1) - 1;
const verdict = Math.abs(growth) <= tolerance ? "goal ok" : "goal missed";
process.stdout.write(
  `resident ${median(steady).toFixed(0)} MiB, ${(growth * 100).toFixed(1)} % over the last ${steady.length * slotSeconds} s (± ${tolerance * 100} %): ${verdict}\n`,
);
