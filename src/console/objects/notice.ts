import { useSyncExternalStore } from "react";

let text = "";
const listeners = new Set<() => void>();

/** Says in passing what was done. */
export function notify(said: string): void {
  text = said;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What was said last. */
export const useNotice = (): string => useSyncExternalStore(subscribe, () => text);
