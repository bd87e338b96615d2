import type { JsonObject } from "@bufbuild/protobuf";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startReceiver } from "../executor/receiver.ts";
import { callJson, restSpec } from "./requests.ts";
import { newStore, startService } from "./store.ts";

// How many events a second reach a target on loopback: so many are written, then it counts until the last is told.

const { values } = parseArgs({ options: { events: { type: "string", default: "2000" } } });
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
await Promise.all(
  Array.from({ length: writers }, async () => {
    while (made < wanted) await post("/projects", { name: `project ${made++}` });
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
