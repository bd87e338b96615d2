import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeJwt } from "jose";
import type { TestOptions } from "../support/app.ts";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { authorizeUrl } from "../support/login.ts";
import { type LoginPages, loginPages } from "../support/login-pages.ts";
import {
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";

// oxlint-disable-next-line no-explicit-any -- what an answer holds is for each test to know.
type Body = any;

/** The service, an app of it, and two providers that do what a test wants. */
export type ProviderWorld = AsyncDisposable & {
  peer: OidcPeer;
  app: MadeClient;
  pages: LoginPages;
  fake: FakeProvider;
  other: FakeProvider;
  /** A provider of the instance, or of an organization, over a fake one. */
  addForgeB(more?: { options?: JsonObject; org?: string; of?: FakeProvider }): Promise<string>;
  addIdp(type: string, config: JsonObject, options?: JsonObject, org?: string): Promise<string>;
  /** What an organization decides on a provider. */
  decide(idpId: string, policy: string, org?: string): Promise<void>;
  /** A browser that has begun a login at the app, with the request's own parameters. */
  begin(more?: Record<string, string>): Promise<UserAgent>;
  /** Chooses a provider, and gives the address at it that the browser is sent to. */
  choose(agent: UserAgent, idpId: string): Promise<URL>;
  /** What the provider sends the browser back with. */
  visit(at: URL): Promise<URL>;
  /** Chooses a provider, goes there and comes back. */
  through(agent: UserAgent, idpId: string): Promise<Shown>;
  /** A whole login of a new browser. */
  logIn(idpId: string, more?: Record<string, string>): Promise<Shown>;
  /** The claims that the app gets for what a login ended with. */
  tokensOf(shown: Shown): Promise<Body>;
  claimsOf(shown: Shown): Promise<Body>;
  /** How many users there are. */
  userCount(): Promise<number>;
  sessionCount(): Promise<number>;
};

export async function startProviderWorld(testOptions: TestOptions = {}): Promise<ProviderWorld> {
  const [fake, other] = [await startFakeProvider(), await startFakeProvider()];
  const peer = await startOidc(testOptions);
  const app = await peer.addClient();
  const pages = loginPages(peer, app);
  const { post, patch } = peer;
  const total = async (path: string) =>
    Number(bodyOf(await post(`${path}/_search?query.limit=1`)).details.total_result);

  const world: ProviderWorld = {
    peer,
    app,
    pages,
    fake,
    other,

    async addIdp(type, config, options = {}, org) {
      const path = org === undefined ? `/idps/${type}` : `/idps/${type}?ctx.org_id=${org}`;
      const idp = { idp: { name: uniqueName(type), options }, config };
      return String(bodyOf(await post(path, idp), 201).details.id);
    },
    async addForgeB({ options = {}, org, of = fake } = {}) {
      const { issuer, clientId: client_id, secret: client_secret } = of;
      return world.addIdp("forge_b", { issuer, client_id, client_secret }, options, org);
    },
    async decide(idpId, policy, org) {
      const path =
        org === undefined ? `/idps/forge_b/${idpId}` : `/idps/forge_b/${idpId}?ctx.org_id=${org}`;
      bodyOf(await patch(path, { idp: { state_policy: `STATE_POLICY_${policy}` } }));
    },

    async begin(more = {}) {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, app, more));
      return agent;
    },
    async choose(agent, idpId) {
      const { url } = agent.last;
      const flow = url.searchParams.get("flow") ?? "";
      return leaving(
        await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp: idpId })}`),
      );
    },
    async visit(at) {
      const answer = await fetch(at, { redirect: "manual" });
      const location = answer.headers.get("location");
      assert.ok(location !== null, await answer.text());
      return new URL(location);
    },
    async through(agent, idpId) {
      const shown = await agent.open(await world.visit(await world.choose(agent, idpId)));
      // Users of another organization than that of the app are asked.
      return shown.url.pathname === "/ui/login/consent"
        ? agent.submit({ consent: "allow" })
        : shown;
    },
    async logIn(idpId, more) {
      return world.through(await world.begin(more), idpId);
    },

    async tokensOf(shown) {
      const code = answerOf(shown).get("code") ?? "";
      const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
      const answer = await peer.send(paths.token, form, basic(app));
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    },
    claimsOf: async (shown) => decodeJwt((await world.tokensOf(shown)).id_token),
    userCount: () => total("/users"),
    sessionCount: () => total("/sessions"),

    async [Symbol.asyncDispose]() {
      for (const each of [peer, fake, other]) await each[Symbol.asyncDispose]();
    },
  };
  return world;
}

/** Where the page on the way to a provider leads. */
export function leaving({ headers, html, status }: Shown): URL {
  const refresh = headers.get("refresh");
  assert.ok(refresh !== null, `the browser is not sent on (${status}): ${html.slice(0, 1_500)}`);
  return new URL(refresh.replace(/^0; url=/, ""));
}
