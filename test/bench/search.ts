// `npm run bench:search`: how long searches take among many targets, each as the median of some calls one after the other.
import type { JsonValue } from "@bufbuild/protobuf";
import { optionsOf } from "../../.ci/options.ts";
import { median } from "./judge.ts";
import { callJson, restSpec } from "./requests.ts";
import { newStore, startService } from "./store.ts";

const values = optionsOf(
  "How long searches take among many targets, each as the median of some calls one after the other.",
  {
    targets: ["100000", "how many targets"],
    clients: ["20", "so many clients search by a part of a name while one reads by id"],
  },
);
const count = Number(values.targets);
const calls = 9;

using store = await newStore(count);
const { child } = await startService(store.dir);
await using service = child;
const { token } = store;

async function ask(query: string, body: JsonValue = []) {
  const path = `/resources/v3alpha/targets/_search?query.limit=20&${query}`;
  return callJson(restSpec(service.port, `POST ${path as `/${string}`}`, { token, body }));
}
async function row(name: string, query: string, body?: JsonValue): Promise<void> {
  const times: number[] = [];
  for (let nth = 0; nth < calls; nth++) {
    const began = performance.now();
    await ask(query, body);
    times.push(performance.now() - began);
  }
  console.log(`${name.padEnd(48)} ${median(times).toFixed(1).padStart(9)} ms`);
}

const middle = Object(await ask(`query.offset=${Math.floor(count / 2)}`)).details.next;
const named = (method: string) => [
  { name: { name: "seeded 00000123", method: `TEXT_FILTER_METHOD_${method}` } },
];
console.log(`${count} targets`);
await row("the first page", "query.skip_total=true");
await row("the first page, with the total", "");
await row("a page in the middle, by offset", `query.offset=${Math.floor(count / 2)}`);
await row("a page in the middle, by after", `query.skip_total=true&query.after=${middle}`);
await row("a page in the middle, by after, with the total", `query.after=${middle}`);
await row("sorted by a column without an index", "sorting_column=TARGET_FIELD_NAME_CHANGE_DATE");
await row("one name, EQUALS", "", named("EQUALS"));
await row("one name, EQUALS_IGNORE_CASE", "", named("EQUALS_IGNORE_CASE"));
await row("one name, CONTAINS", "", named("CONTAINS"));

/** How long reads by id take for some seconds, one after the other: the median and the 99th percentile, in milliseconds. */
async function reads(seconds: number): Promise<{ median: number; p99: number }> {
  const times: number[] = [];
  const path = `/resources/v3alpha/targets/${first}` as const;
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    const began = performance.now();
    await callJson(restSpec(service.port, `GET ${path}`, { token }));
    times.push(performance.now() - began);
  }
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
  return { median: median(times), p99 };
}

const [{ details }] = Object(await ask("")).result;
const first: string = details.id;
await reads(2);
const quiet = await reads(5);
let isOver = false;
let answered = 0;
let refused = 0;
const searching = Array.from({ length: Number(values.clients) }, async () => {
  while (!isOver) {
    await ask("", named("CONTAINS")).then(
      () => (answered += 1),
      () => (refused += 1),
    );
  }
});
const beside = await reads(10);
isOver = true;
await Promise.all(searching);
const told = ({ median: half, p99 }: typeof quiet) =>
  `${half.toFixed(2).padStart(9)} ms, p99 ${p99.toFixed(2)} ms`;
console.log(`${"a read by id, quiet".padEnd(48)} ${told(quiet)}`);
console.log(
  `${`a read by id, beside ${values.clients} clients that search`.padEnd(48)} ${told(beside)}, ${(beside.p99 / quiet.p99).toFixed(2)} of the quiet p99; ${answered} searches, ${refused} refused`,
);
