import { useSyncExternalStore } from "react";

export type Notice = { text: string; takeBack?: (() => Promise<unknown>) | undefined };

let notice: Notice = { text: "" };
const listeners = new Set<() => void>();

/** Says in passing what was done, and how it is taken back where it can be. */
export function notify(text: string, takeBack?: Notice["takeBack"]): void {
  notice = { text, takeBack };
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What was said last. */
export const useNotice = (): Notice => useSyncExternalStore(subscribe, () => notice);
