import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { addPersonNamed, signIn } from "../support/login.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { type UserAgent, userAgent } from "../support/user-agent.ts";

export const own = { "x-idsvc-console": "1" };
export const permissionsPath = "/idsvc.resources.auth.v3alpha.AuthService/GetMyPermissions";

/** Browsers that are signed in to the console of a service, without pages. */
export function consoleAgents(peer: OidcPeer) {
  const { issuer } = peer;
  const sent = { origin: issuer, "sec-fetch-site": "same-origin", ...own };

  /** Calls as the console does, over Connect; the status and the reason of a refusal. */
  async function call(
    agent: Pick<UserAgent, "cookies">,
    headers: Record<string, string> = sent,
    path = permissionsPath,
    body = "{}",
  ) {
    const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(`${issuer}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(cookie && { cookie }), ...headers },
      body,
    });
    const json = Object(await answer.json());
    return { status: answer.status, json, headers: answer.headers };
  }
  const mayCall = async (agent: UserAgent): Promise<boolean> => (await call(agent)).status === 200;

  /** Opens the console in a new browser, as a person who may do something. */
  async function enter(roles: string[] = ["IAM_OWNER"], to = "/ui/console/people", org?: string) {
    const addPerson = (more?: JsonObject) => peer.addPerson(more, org);
    const { id, loginName } = await addPersonNamed({ addPerson, get: peer.get });
    const membership = { ctx: { instance_id: peer.app.made.instance_id }, user_id: id, roles };
    const made = roles.length === 0 ? undefined : await peer.post("/memberships", membership);
    const agent = userAgent(issuer);
    await agent.open(`/ui/console/login?${new URLSearchParams({ to, ...(org && { org }) })}`);
    const shown = await signIn(agent, loginName);
    assert.equal(shown.url.pathname, new URL(to, issuer).pathname);
    return { agent, id, loginName, membershipId: made && String(bodyOf(made, 201).details.id) };
  }

  return { sent, call, mayCall, enter };
}
