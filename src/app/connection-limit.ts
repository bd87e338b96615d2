import { readFileSync } from "node:fs";

/**
 * How many connections may be open at once: as many as configured, but a quarter of the files that the process may open
 * is left for the store, for what is loaded later and for targets (F26). Where nobody tells, as configured.
 *
 * @param limits  what the system tells of the process, as Linux writes it
 */
export function connectionLimit(configured: number, limits = limitsOfProcess()): number {
  const [, files] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return files === undefined ? configured : Math.min(configured, Math.floor(Number(files) * 0.75));
}

function limitsOfProcess(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}
