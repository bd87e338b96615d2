import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { addPersonNamed, authorizeUrl, signIn } from "../support/login.ts";
import {
  type Body,
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";

const api = "urn:idsvc:iam:org:project:id:idsvc:aud";
/** A log-in that asks for our own APIs. */
export const scope = `openid ${api}`;

export const oidc = (more: JsonObject = {}) => ({
  redirect_uris: [redirectUri],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: [
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
  ],
  app_type: "OIDC_APP_TYPE_WEB",
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
  ...more,
});

/** How far the page lets a person go. */
export const choices = ({ html }: Shown): string[] =>
  [...html.matchAll(/name="access" value="([a-z]+)"/g)].map(([, value = ""]) => value);

/** What a read of a user ends with: the status over REST, and the reason over gRPC. */
export const ok: [number, string] = [200, ""];
export const hidden: [number, string] = [404, "USER_NOT_FOUND"];

/** A service with people who let apps act for them. */
export async function startAppWorld(env: Record<string, string> = {}) {
  const peer: OidcPeer = await startOidc({
    env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true", ...env },
  });
  const home: string = peer.app.made.organization_id;
  const ownProject = await peer.ports.settings.ownProjectId(peer.at);
  /** Somebody with a password who owns the instance. */
  async function addOwner(): Promise<{ id: string; loginName: string }> {
    const person = await addPersonNamed(peer);
    const ctx = { instance_id: peer.app.made.instance_id };
    bodyOf(await peer.post("/memberships", { ctx, user_id: person.id, roles: ["IAM_OWNER"] }), 201);
    return person;
  }

  /** A project of the administrators' organization whose owner is nobody else, and an app that this owner registers. */
  async function addForeignApp(more: JsonObject = {}): Promise<MadeClient & { token: string }> {
    const project = bodyOf(await peer.post("/projects", { name: uniqueName("project") }), 201);
    const { token, userId } = await peer.addMember(home, []);
    const ctx = { project_id: project.details.id };
    bodyOf(
      await peer.post("/memberships", { ctx, user_id: userId, roles: ["PROJECT_OWNER"] }),
      201,
    );
    const app = { name: uniqueName("app"), project_id: project.details.id, oidc: oidc(more) };
    const made = bodyOf(await peer.post("/apps", app, { token }), 201);
    const { client_id: clientId, client_secret: secret = "" } = made;
    return { appId: made.details.id, projectId: project.details.id, clientId, secret, token };
  }

  const ask = (agent: UserAgent, client: MadeClient, more: Record<string, string> = {}) =>
    agent.open(authorizeUrl(peer, client, { scope, ...more }));

  async function redeem(client: MadeClient, shown: Shown): Promise<Body> {
    const code = answerOf(shown).get("code") ?? "";
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
    const { status, body, text } = await peer.send(paths.token, form, basic(client));
    assert.equal(status, 200, text);
    return body;
  }

  /** Lets an app have what it asks for, on the page. */
  async function allow(client: MadeClient, loginName: string, access: string, asked = scope) {
    const agent = userAgent(peer.issuer);
    await ask(agent, client, { scope: asked });
    const page = await signIn(agent, loginName);
    assert.equal(page.url.pathname, "/ui/login/consent", page.html);
    return redeem(client, await agent.submit({ consent: "allow", access }));
  }

  /** The same, where something was allowed before. */
  async function allowAgain(
    client: MadeClient,
    loginName: string,
    access: string,
  ): Promise<string> {
    const agent = userAgent(peer.issuer);
    await ask(agent, client, { prompt: "consent" });
    await signIn(agent, loginName);
    const shown = await agent.submit({ consent: "allow", access });
    return (await redeem(client, shown)).access_token;
  }

  /** Over REST and over gRPC: how a call of the APIs by a token ends. */
  async function reads(userId: string, token: string): Promise<[number, string]> {
    const { status } = await peer.get(`/users/${userId}`, { token });
    const said = await peer.peer.call(
      "grpc",
      UserService.method.getUser,
      { id: userId },
      { token },
    );
    return [status, said.ok ? "" : said.reason];
  }

  return { peer, home, ownProject, addOwner, addForeignApp, ask, redeem, allow, allowAgain, reads };
}
