import { startCluster } from "./postgres-cluster.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { targets } from "../../src/resources/action/target/projection.ts";
import { executions } from "../../src/resources/action/execution/projection.ts";
import { insertRow, PendingSequence } from "../../src/storage/row-change.ts";
import pg from "pg";
const durable = process.argv[2] === "durable";
const conc = Number(process.argv[3] ?? 64);
const instances = Number(process.argv[4] ?? 1);
await using cluster = await startCluster({ durable, settings: process.env.AE ? { shared_preload_libraries: "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on", "auto_explain.log_nested_statements": "on","log_min_messages":"log" , "auto_explain.sample_rate": "0.02"} : {} });
const c0 = new pg.Client({ connectionString: cluster.url("postgres") });
await c0.connect();
await c0.query("create database b");
await c0.end();
await using db = await openPostgres({
  url: cluster.url("b"),
  schema: { state: [], projections: [targets, executions] },
});
await db.migrate();
console.log(
  Object.keys(targets.columns).join(","),
  JSON.stringify(targets.indexes),
  targets.countedBy,
);
const vals = (id: string, inst: string) => {
  const v: Record<string, unknown> = {};
  for (const [k, c] of Object.entries(targets.columns))
    v[k] =
      k === "instanceId"
        ? inst
        : k === "id"
          ? id
          : k === "sequence"
            ? new PendingSequence(0)
            : c.kind === "text"
              ? "text " + id
              : c.kind === "int" || c.kind === "int64"
                ? 5n
                : c.kind === "bool"
                  ? true
                  : c.kind === "json"
                    ? []
                    : c.kind === "instant"
                      ? new Date()
                      : null;
  return v;
};
let n = 0;
const lat: number[] = [];
const until = Date.now() + 6000;
const start = Date.now();
async function worker(w: number) {
  while (Date.now() < until) {
    const id = String(1000000000 + n++);
    const inst = "i" + (w % instances);
    const t = performance.now();
    await db.commit({
      instanceId: inst,
      expect: [],
      claims: [
        {
          op: "hold",
          scope: inst,
          kind: "target.name",
          value: "text " + id,
          holderType: "target",
          holderId: id,
        },
      ],
      events: [
        {
          aggregateType: "target",
          aggregateId: id,
          aggregateVersion: 1n,
          type: "target.added",
          revision: 1,
          payload: {
            name: "text " + id,
            url: "https://example.com/hook",
            timeoutMs: 5000,
            kind: "rest_webhook",
            interruptOnError: true,
          },
          ownerType: "instance",
          ownerId: inst,
          editorId: "12345",
          service: "idsvc.resources.action.v3alpha.ActionService",
          clientId: "",
          requestId: "0123456789abcdef",
          createdAt: new Date(),
        },
      ],
      changes: [insertRow(targets as never, vals(id, inst) as never)],
    });
    lat.push(performance.now() - t);
  }
}
const cpu = process.cpuUsage();
await Promise.all(Array.from({ length: conc }, (_, w) => worker(w)));
const s = (Date.now() - start) / 1000;
lat.sort((a, b) => a - b);
const used = process.cpuUsage(cpu);
console.log(
  `durable=${durable} conc=${conc} inst=${instances}: ${(n / s).toFixed(0)}/s p50 ${lat[lat.length >> 1]?.toFixed(1)} p99 ${lat[Math.floor(lat.length * 0.99)]?.toFixed(1)} node cpu ${((used.user + used.system) / 1e6 / s).toFixed(2)}`,
);

if (process.env.AE) { const fs = await import("node:fs"); fs.copyFileSync(cluster.folder + "/log", "/tmp/h/pglog"); }
