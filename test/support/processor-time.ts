/**
 * The processor time that this process has taken so far, in milliseconds, over all its threads. Differences of it judge what
 * something costs; unlike the clock on the wall they do not grow with what else the machine does.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
