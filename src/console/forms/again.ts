import { useEffect, useState } from "react";
import { servicePort } from "../declared/service-port.ts";

const channelName = "idsvc-console";
/** The page that the log-in in a window of its own ends at. */
export const backPath = "/ui/console/back";

/** Opens the log-in in a window of its own, so that what was typed stays where it is. */
export function logInBeside(facts: Readonly<Record<string, string>> = {}): void {
  const { acr_values = "" } = facts;
  const query = { to: backPath, ...(acr_values === "" ? {} : { acr_values }) };
  window.open(
    `/ui/console/login?${new URLSearchParams(query)}`,
    "idsvc-login",
    "width=480,height=720",
  );
}

/** Tells the page that waits that somebody has logged in, and closes the window. */
export function useBack(): void {
  useEffect(() => {
    const channel = new BroadcastChannel(channelName);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin, and takes no other
    channel.postMessage("back");
    channel.close();
    window.close();
  }, []);
}

/**
 * Goes on once the reader has logged in beside the page. Where it was another person, the page begins anew: what was typed is
 * not theirs to send.
 */
export function useWhenBack(userId: string, goOn: () => void): { wait: () => void } {
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    if (!isWaiting) return;
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener("message", () => {
      setWaiting(false);
      void servicePort.me(1).then(
        (me) => (me.userId === userId ? goOn() : location.reload()),
        // What is still refused says so when it is sent again.
        () => goOn(),
      );
    });
    return () => channel.close();
  }, [isWaiting, userId, goOn]);
  return { wait: () => setWaiting(true) };
}
