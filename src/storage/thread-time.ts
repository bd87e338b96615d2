/** The processor time that this thread has taken so far, in milliseconds: it stands still while others have the processor. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
