import { certificateOf } from "../app/certificate.ts";
import { requireClock } from "../app/clock.ts";
import { processCount } from "../app/config.ts";
import { openDataDir } from "../app/data-dir.ts";
import { type Context, configOf } from "./context.ts";
import { isWorker } from "./worker.ts";

/**
 * Serves until a signal; the first one stops in order, the second at once (H4). With more than one process (IDSVC_PROCESSES)
 * this one serves nothing itself: it starts the others, and replaces those that end.
 */
export async function serveCommand(context: Context): Promise<number> {
  const config = configOf(context);
  // What is refused whatever the store holds is refused before the service is loaded.
  requireClock(new Date());
  openDataDir(config);
  certificateOf(config);
  const count = processCount(config);
  if (count > 1 && !isWorker()) {
    const { superviseWorkers } = await import("./workers.ts");
    return superviseWorkers(config, count);
  }
  const { serveHere } = await import("./serve-here.ts");
  return serveHere(config, context.env);
}
