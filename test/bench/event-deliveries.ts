import type { JsonObject } from "@bufbuild/protobuf";
import { setTimeout as delay } from "node:timers/promises";
import { startReceiver } from "../executor/receiver.ts";
import { optionsOf } from "../../.ci/options.ts";
import { callJson, restSpec } from "./requests.ts";
import { percentile } from "./judge.ts";
import { printVerdict } from "./report.ts";
import { newStore, startService } from "./store.ts";

// How many events a second reach a target on loopback: so many are written, then it counts until the last is told.

const values = optionsOf("How many events a second reach a target on loopback.", {
  events: ["2000", "how many are written"],
});
const wanted = Number(values.events);
const writers = 16;

using store = await newStore();
const { child } = await startService(store.dir);
await using service = child;
await using receiver = await startReceiver();
const { token } = store;
const post = async (path: string, body: JsonObject) =>
  Object(await callJson(restSpec(service.port, `POST /resources/v3alpha${path}`, { token, body })));

const hook = { name: "hook", rest_webhook: { url: receiver.url("/") } };
const { details } = await post("/targets", hook);
await post("/executions", {
  condition: { event: { event: "project.added" } },
  targets: [details.id],
});
const begun = performance.now();
let made = 0;
const writtenAt = new Map<string, number>();
await Promise.all(
  Array.from({ length: writers }, async () => {
    while (made < wanted) {
      const { details: project } = await post("/projects", { name: `project ${made++}` });
      writtenAt.set(project.id, Date.now());
    }
  }),
);
const written = performance.now();
const told = () => new Set(receiver.calls.map(({ headers }) => headers["idsvc-delivery"])).size;
while (told() < wanted) await delay(10);
const seconds = (performance.now() - begun) / 1000;
const rate = (count: number, ms: number) => Math.round(count / (ms / 1000));
console.log(
  `${wanted} events: ${rate(wanted, written - begun)} written a second, ` +
    `${rate(wanted, seconds * 1000)} delivered a second, the last ${Math.round(performance.now() - written)} ms after it`,
);

const lags = receiver.calls
  .map(({ json, at }) => at - (writtenAt.get(json.aggregateID) ?? Number.NaN))
  .filter((lag) => !Number.isNaN(lag));
printVerdict("deliveries", rate(wanted, seconds * 1000), {
  "of writes": (written - begun) / 1000 / seconds,
  "p99 ms": percentile(lags, 99),
});

// What calls that no execution concerns take while others wait for a target that hangs.
const othersMs = 3_000;
const waiting = 100;
async function others(): Promise<number> {
  const path = `GET /resources/v3alpha/organizations/${store.made.organization_id}` as const;
  const times: number[] = [];
  const end = performance.now() + othersMs;
  while (performance.now() < end) {
    const start = performance.now();
    await callJson(restSpec(service.port, path, { token }));
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}

receiver.on("/hang", () => {});
const hanging = { name: "hanging", rest_webhook: { url: receiver.url("/hang") }, timeout: "1s" };
const { details: hung } = await post("/targets", hanging);
const languages = "idsvc.settings.language.v3alpha.LanguageService";
await post("/executions", { condition: { request: { service: languages } }, targets: [hung.id] });
const idleP99 = await others();
let isOver = false;
const callers = Array.from({ length: waiting }, async () => {
  const spec = restSpec(service.port, "GET /settings/v3alpha/languages", { token });
  while (!isOver) await callJson(spec);
});
const busyP99 = await others();
isOver = true;
await Promise.all(callers);
console.log(
  `p99 of other calls: ${idleP99.toFixed(1)} ms, ${busyP99.toFixed(1)} ms while ${waiting} callers wait for a target that hangs`,
);
