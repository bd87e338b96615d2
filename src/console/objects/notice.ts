import { useSyncExternalStore } from "react";

export type Notice = { text: string; takeBack?: (() => Promise<unknown>) | undefined };

/** The page that the address leads to, whichever of its tabs or filters are chosen. */
export const pageNow = (): string =>
  `${location.pathname} ${new URLSearchParams(location.search).get("org") ?? ""}`;

const none: Notice = { text: "" };
let said = { page: "", notice: none };
const listeners = new Set<() => void>();

function say(notice: Notice): void {
  said = { page: pageNow(), notice };
  for (const listener of listeners) listener();
}

/** Says in passing, on the page that is shown, what was done, and how it is taken back where it can be. */
export function notify(text: string, takeBack?: Notice["takeBack"]): void {
  say({ text, takeBack });
}

/** Forgets what was said, as something else begins. */
export function forget(): void {
  if (said.notice !== none) say(none);
}

/** Forgets what was said on another page. */
export function forgetElsewhere(): void {
  if (said.notice !== none && said.page !== pageNow()) say(none);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What was said last on the page that is shown. */
export const useNotice = (): Notice =>
  useSyncExternalStore(subscribe, () => (said.page === pageNow() ? said.notice : none));
