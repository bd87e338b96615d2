import assert from "node:assert/strict";
import type { BrowserContextOptions } from "playwright-core";
import { logInUnseen } from "../support/browser-login.ts";
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

/** The same with pages that are looked at, but for those of the log-in. */
export async function journeyAtAccount(
  journeys: Journeys,
  loginName: string,
  options: BrowserContextOptions = {},
): Promise<Journey> {
  const journey = await journeys.begin({ ...options, from: "about:blank" });
  const account = `${journeys.peer.issuer}/ui/account`;
  const shown = await logInUnseen(journey.page, account, loginName);
  assert.equal(shown.pathname, "/ui/account");
  await journey.page.goto(account);
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
