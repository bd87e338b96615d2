import assert from "node:assert/strict";
import { password } from "../support/login.ts";
import { noticesSent } from "../support/notices.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { type Shown, userAgent, type UserAgent } from "../support/user-agent.ts";
import { signIn } from "../support/login.ts";
import type { Journey, Journeys } from "../login/journey.ts";

export const pathOf = ({ url }: Shown): string => url.pathname;

/** A browser in which somebody is signed in at their account. */
export async function atAccount(peer: OidcPeer, loginName: string): Promise<UserAgent> {
  const agent = userAgent(peer.issuer);
  await agent.open("/ui/account");
  await signIn(agent, loginName);
  assert.equal(agent.last.url.pathname, "/ui/account");
  return agent;
}

/** The same with pages that are looked at. */
export async function journeyAtAccount(
  journeys: Journeys,
  loginName: string,
  options: Parameters<Journeys["begin"]>[0] = {},
): Promise<Journey> {
  const journey = await journeys.begin({ from: `${journeys.peer.issuer}/ui/account`, ...options });
  await journey.signIn(loginName);
  await journey.at("/ui/account");
  return journey;
}

/** Types the password where the pages ask for it anew. */
export async function stepUp(journey: Journey): Promise<void> {
  await journey.at("/ui/login/password");
  await journey.submit({ password });
}

/** The code of the last message that was sent. */
export async function lastCode({ peer }: Journeys): Promise<string> {
  await noticesSent(peer.app);
  const html = await (await fetch(`${peer.issuer}/ui/dev/mail`)).text();
  const [, text = ""] = /<pre>([\s\S]*?)<\/pre>/.exec(html) ?? [];
  return /Code: (\S+)/.exec(text)?.[1] ?? /^(\S+) /.exec(text)?.[1] ?? "";
}
