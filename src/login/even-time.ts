import { setTimeout as delay } from "node:timers/promises";

/**
 * Does something and tells of it only at full steps of time, however it ends: what is done for somebody and not for nobody
 * takes some milliseconds more, which would tell who exists (D49, D50).
 */
export async function atFullSteps<T>(stepMs: number, work: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  try {
    return await work();
  } finally {
    await delay(stepMs - ((performance.now() - begin) % stepMs));
  }
}
