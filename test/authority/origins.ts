import { bodyOf, type ResourcePeer } from "../support/peer.ts";
import type { RestAnswer } from "../support/protocols.ts";

/** Addresses that no test's machine has: each source is another one. */
let sources = 0;
export const anyAddress = () => `203.0.113.${(sources++ % 250) + 1}`;

export const firefox = {
  agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0",
  families: { browser: "Firefox", system: "Windows" },
};
export const iphone = {
  agent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  families: { browser: "Safari", system: "iOS" },
};

/** The headers of a proxy for a client at this address, and of the client. */
export const from = (address: string, agent = firefox.agent) => ({
  "x-forwarded-for": address,
  "user-agent": agent,
});

export type Told = { type: string; editor: { user_id: string; origin?: Origin } };
export type Origin = {
  address?: string;
  browser?: string;
  system?: string;
  session_id?: string;
  flow_id?: string;
  token_family_id?: string;
  actor_ids?: string[];
};

const eventsIn = (answer: RestAnswer): Told[] => bodyOf(answer).result;

/** What is told of a user's history, the newest first. */
export const historyOf = async (
  peer: Pick<ResourcePeer, "post">,
  id: string,
  token?: string,
): Promise<Told[]> =>
  eventsIn(
    await peer.post(
      `/users/${id}/events/_search?with_checks=true`,
      undefined,
      token === undefined ? {} : { token },
    ),
  );

/** What the log tells of an object, the newest first. */
export const logOf = async (
  peer: Pick<ResourcePeer, "post">,
  aggregate: { type: string; id?: string },
  token?: string,
): Promise<Told[]> =>
  eventsIn(
    await peer.post("/events/_search", [{ aggregate }], token === undefined ? {} : { token }),
  );

/** Where the newest event of a type was done from. */
export function originOf(events: readonly Told[], type: string): Origin | undefined {
  const found = events.find((event) => event.type === type);
  if (found === undefined)
    throw new Error(`no ${type} among ${events.map((each) => each.type).join(" ")}`);
  return found.editor.origin;
}

/** What is seen of a place alone. */
export const seen = (origin: Origin | undefined) => ({
  address: origin?.address,
  browser: origin?.browser,
  system: origin?.system,
});
