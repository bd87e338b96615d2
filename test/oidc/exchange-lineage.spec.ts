// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Answer, basic, paths } from "../support/oidc.ts";
import { startExchange } from "./exchange-peer.ts";

const { service, web, subjectOf, actorOf, ask, addImpersonator, allowImpersonation } =
  await startExchange();
const { addPerson, tokensFor, introspect } = service;
before(allowImpersonation);
after(() => service[Symbol.asyncDispose]());

describe("the lineage of what was exchanged", () => {
  const offline = { scope: ["openid", "offline_access"] };
  const exchange = async (token: string, more: Record<string, string> = {}) => {
    const form = { ...subjectOf(token), scope: "openid offline_access", ...more };
    const answer = await ask(form);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const lives = async ({ access_token: token, refresh_token }: Answer["body"]) => {
    const { active } = await introspect(token, web);
    const refreshed = await service.send(
      paths.token,
      { grant_type: "refresh_token", refresh_token },
      basic(web),
    );
    assert.equal(refreshed.status === 200, active, refreshed.text);
    return active;
  };

  it("ends with a token, with a session, with a grant, with the login, and with the one who acts", async () => {
    const endings: [string, (parts: Record<string, string>) => Promise<unknown>][] = [
      ["token", ({ access = "" }) => service.send(paths.revoke, { token: access }, basic(web))],
      ["grant", ({ refresh = "" }) => service.send(paths.revoke, { token: refresh }, basic(web))],
      ["login", ({ session = "" }) => service.remove(`/sessions/${session}`)],
      ["user", ({ person = "" }) => service.post(`/users/${person}/_lock`)],
      ["actor", ({ actor = "" }) => service.post(`/users/${actor}/_deactivate`)],
      ["actor's login", ({ actorSession = "" }) => service.remove(`/sessions/${actorSession}`)],
    ];
    for (const [what, end] of endings) {
      const [person, actor] = [await addPerson(), await addImpersonator()];
      const [session, actorSession] = [await service.logIn(person), await service.logIn(actor)];
      const first = await tokensFor(web, person, { ...offline, sessionId: session });
      const acting = await tokensFor(web, actor, { ...offline, sessionId: actorSession });
      const child = await exchange(first.access_token, actorOf(acting.access_token));
      const grandchild = await exchange(child.access_token);
      assert.equal((await introspect(grandchild.access_token, web)).active, true, what);
      await end({
        person,
        actor,
        session,
        actorSession,
        access: first.access_token,
        refresh: first.refresh_token,
      });
      for (const made of [child, grandchild]) assert.equal(await lives(made), false, what);
    }
  });

  it("does not end when what it came from just expires", async () => {
    const first = await tokensFor(web, await addPerson(), offline);
    const child = await exchange(first.access_token);
    service.pass(43_201_000);
    const refreshed = await service.send(
      paths.token,
      { grant_type: "refresh_token", refresh_token: child.refresh_token },
      basic(web),
    );
    assert.equal(refreshed.status, 200, refreshed.text);
  });
});
