import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import type { MadeClient, OidcPeer } from "./oidc.ts";
import { redirectUri } from "./oidc.ts";
import { bodyOf, uniqueName } from "./peer.ts";
import { type Shown, type UserAgent, userAgent } from "./user-agent.ts";

export const password = "correct horse battery staple";

/** A person with a password, by the name that they log in with. */
export async function addPersonNamed(
  peer: Pick<OidcPeer, "addPerson" | "get">,
  more: JsonObject = {},
): Promise<{ id: string; loginName: string }> {
  const username = uniqueName("person").replaceAll(" ", "-");
  const id = await peer.addPerson({ username, ...more });
  const { user } = bodyOf(await peer.get(`/users/${id}`));
  return { id, loginName: user.login_names?.[0] ?? username };
}

/** The address of an authorization request of a client. */
export function authorizeUrl(
  { issuer }: Pick<OidcPeer, "issuer">,
  { clientId }: Pick<MadeClient, "clientId">,
  more: Record<string, string | undefined> = {},
): string {
  const all = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    state: "a-state",
    ...more,
  };
  const sent = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `${issuer}/oauth/v2/authorize?${new URLSearchParams(sent)}`;
}

/** Gives name and password on the pages that ask for them. */
export async function signIn(agent: UserAgent, loginName: string): Promise<Shown> {
  if (agent.last.url.pathname === "/ui/login/loginname") {
    await agent.submit({ login_name: loginName });
  }
  assert.equal(agent.last.url.pathname, "/ui/login/password");
  return agent.submit({ password });
}

/** A browser in which somebody has logged in at a client. */
export async function signedIn(
  peer: OidcPeer,
  client: MadeClient,
  loginName: string,
): Promise<UserAgent> {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client));
  const shown = await signIn(agent, loginName);
  assert.ok(shown.left !== undefined, shown.html);
  return agent;
}
