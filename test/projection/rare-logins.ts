import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../../src/projection/module.ts";
import { consume, fail, idpIntent, start, succeed } from "../../src/resources/idp/intent/intent.ts";
import { createTrustedBrowsers } from "../../src/resources/session/index.ts";
import { loggedIn } from "../api/samples/idp-login.ts";
import type { World } from "../api/samples/sample.ts";

/** Makes the events of logins with identity providers and in trusted browsers, and of accounts there that are linked to a user and removed. */
export async function rareLogins(
  { db, events, newId }: Pick<Deps, "db" | "events" | "newId">,
  world: World,
  remove: (path: string) => Promise<unknown>,
) {
  const { instanceId } = world;
  const at = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };
  const owner = { type: "instance", id: instanceId } as const;
  for (const type of ["oidc", "saml", "ldap", "failed"]) {
    await events.transact(at, async (tx) => {
      const loaded = tx.begin(idpIntent, newId());
      const take = (happened: ReturnType<typeof start>) =>
        tx.record(idpIntent, loaded, happened, owner);
      take(start("1"));
      if (type === "failed") return take(fail(loaded.state, "IDP_ANSWER_INVALID"));
      take(succeed(loaded.state, type, "2"));
      take(consume(loaded.state, "2"));
    });
  }
  const person = () => world.make("/users", { username: world.name(), data: {} });
  const config = { client_id: "idsvc", client_secret: "a secret" };
  const doomed = await world.make("/idps/forge_b", { config });
  const id = await person();
  const { proof, externalId: user_id, idpId: idp_id } = await loggedIn(world);
  await world.create(`/users/${id}/idps`, { link: { idp_id, user_id } });
  const checks = { user: { user_id: id }, idp_intent: proof };
  await world.create("/sessions", { checks });
  await remove(`/users/${id}/idps/${idp_id}`);
  const sessionId = await world.make("/sessions", { checks: { user: { user_id: id } } });
  const inBrowser = { ...at, browser: "a browser" };
  const trusted = createTrustedBrowsers({ db, events });
  await trusted.trust(inBrowser, id, 60_000);
  await trusted.spare(inBrowser, { sessionId, userId: id, lifetimeMs: 60_000 });
  const other = await person();
  await world.create(`/users/${other}/idps`, { link: { idp_id: doomed, user_id: "x" } });
  await remove(`/idps/${doomed}`);
  // The links to it are removed by a job.
  await delay(2_000);
}
