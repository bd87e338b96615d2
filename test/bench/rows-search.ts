import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import type { LoadSpec } from "./load/spec.ts";
import type { BenchCase } from "./measure.ts";
import { type Child, startServer } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import type { Bench, RowPlan } from "./rows.ts";
import { newStore, startService, type Store } from "./store.ts";

const floor = join(import.meta.dirname, "peers/floor-search.ts");
// A page in the middle takes tens of milliseconds: more at once would only wait longer.
const connections = 16;
const namePrefix = "seeded 0000000";

type Kind = "first10" | "first100" | "middle" | "name";

/** SearchTargets over so many targets, beside a raw read of the same page. */
export async function searchBench(
  sizes: readonly { label: string; targets: number; kinds: readonly Kind[] }[],
): Promise<Bench & { services: Map<string, Child> }> {
  await using running = new AsyncDisposableStack();
  const cases: BenchCase[] = [];
  const rows: RowPlan[] = [];
  const services = new Map<string, Child>();
  for (const { label, targets, kinds } of sizes) {
    const store = running.use(await newStore(targets));
    const service = running.use((await startService(store.dir)).child);
    services.set(label, service);
    const raw = running.use(await startServer([floor, store.file, store.made.instance_id]));
    for (const kind of kinds) {
      const id = `search-${label}-${kind}`;
      const floorName = `floor ${id}`;
      const first = await searchCase(id, service, specOf(service.port, kind, targets, store), kind);
      const second = await searchCase(floorName, raw, rawSpec(raw.port, kind, targets), kind);
      assert.deepEqual(
        await first.ids(),
        await second.ids(),
        `${id}: the floor reads another page`,
      );
      cases.push(first.case, second.case);
      rows.push({ id, service: id, floor: floorName });
    }
  }
  const held = running.move();
  return { cases, rows, services, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

const limitOf = (kind: Kind) => (kind === "first100" ? 100 : 10);
const offsetOf = (kind: Kind, targets: number) => (kind === "middle" ? targets / 2 : 0);

/** A search of the service by REST, filters in the body. */
export function specOf(
  port: number,
  kind: Kind,
  targets: number,
  { token }: Pick<Store, "token">,
): LoadSpec {
  const page = `query.limit=${limitOf(kind)}&query.offset=${offsetOf(kind, targets)}`;
  const body: JsonValue =
    kind === "name"
      ? [{ name: { name: namePrefix, method: "TEXT_FILTER_METHOD_STARTS_WITH" } }]
      : [];
  return restSpec(port, `POST /resources/v3alpha/targets/_search?${page}`, {
    token,
    body,
    connections,
  });
}

function rawSpec(port: number, kind: Kind, targets: number): LoadSpec {
  const page = `query.limit=${limitOf(kind)}&query.offset=${offsetOf(kind, targets)}`;
  const name = kind === "name" ? `&name=${encodeURIComponent(namePrefix)}` : "";
  return restSpec(port, `GET /?${page}${name}`, { connections });
}

async function searchCase(name: string, { pid }: Child, load: LoadSpec, kind: Kind) {
  const ids = async () => {
    const { result } = await callJson(load);
    assert.ok(Array.isArray(result) && result.length === limitOf(kind), "the page is full");
    return result.map((each) => String(Object(each).details.id));
  };
  return { ids, case: { name, pid, load, verify: async () => void (await ids()) } };
}
