// `npm run bench:search`: how long searches take among many targets, each as the median of some calls one after the other.
import { parseArgs } from "node:util";
import type { JsonValue } from "@bufbuild/protobuf";
import { median } from "./judge.ts";
import { callJson, restSpec } from "./requests.ts";
import { newStore, startService } from "./store.ts";

const { values } = parseArgs({ options: { targets: { type: "string", default: "100000" } } });
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
