import { constants, getPriority, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
const thisThread = 0;

/** Lets all others have a core before a process. */
export const stepBack = (pid: number): void => lower(pid, PRIORITY_LOW);

/** Lets the event loop have a core before the thread that calls. Elsewhere than on Linux a priority is that of the process. */
export function stepBackAsThread(): void {
  if (process.platform === "linux") lower(thisThread, PRIORITY_BELOW_NORMAL);
}

function lower(pid: number, priority: number): void {
  try {
    // The larger number is the lower priority; one that is lower already may not be raised.
    if (getPriority(pid) < priority) setPriority(pid, priority);
  } catch {
    // The process has ended, or a filter of system calls refuses it: then it takes its share.
  }
}
