import { openKernel } from "../app/kernel.ts";
import { version } from "../app/version.ts";
import { verifyProjections } from "../projection/rebuild.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

export async function doctorCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger("warn") });
  const store = await kernel.db.health(true);
  const heads = await kernel.db.heads();
  const differences = await verifyProjections(kernel, kernel.projectionTables);
  const differing = [...differences].filter(([, rows]) => rows > 0).map(([table]) => table);
  const events = [...heads.values()].reduce((sum, head) => sum + head, 0n);
  const healthy = store.sound && differing.length === 0;
  const result = {
    healthy,
    version,
    node: process.version,
    store,
    logs: heads.size,
    events: String(events),
    differing_projections: differing,
  };
  print(
    context,
    result,
    [
      `idsvc ${version}, Node ${process.version}`,
      `store: ${store.engine} ${store.version}, ${store.sound ? "sound" : "DAMAGED: restore a backup"}`,
      `log: ${events} events of ${heads.size} instances`,
      differing.length === 0
        ? "projections: equal to a fresh fold of the log"
        : `projections: ${differing.join(", ")} differ; run idsvc projections rebuild`,
    ].join("\n"),
  );
  return healthy ? exitCodes.done : exitCodes.no;
}
