// Run: shared
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { addPersonNamed, authorizeUrl, password, signedIn } from "../support/login.ts";
import { basic, paths, startOidc } from "../support/oidc.ts";
import { answerOf } from "../support/user-agent.ts";

const lines: string[] = [];
const service = await startOidc({ log: (line) => void lines.push(line) });
const { send } = service;
after(() => service[Symbol.asyncDispose]());

it("D21: nothing that was issued or proven by stands in the log, at level debug", async () => {
  const web = await service.addClient();
  const jwt = await service.addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
  const machine = await service.addMachine();
  const alice = await addPersonNamed(service);
  const scope = ["openid", "offline_access"];
  const issued = await service.tokensFor(web, alice.id, { scope });
  const renewed = (
    await send(
      paths.token,
      { grant_type: "refresh_token", refresh_token: issued.refresh_token },
      basic(web),
    )
  ).body;
  const form = { grant_type: "client_credentials", scope: "openid" };
  const ofMachine = (await send(paths.token, form, basic(machine))).body;
  const asJwt = await service.tokensFor(jwt, alice.id);
  const agent = await signedIn(service, web, alice.loginName);
  const code = answerOf(await agent.open(authorizeUrl(service, web))).get("code") ?? "";
  await service.introspect(issued.access_token, web);
  await service.userinfo(renewed.access_token);
  await send(paths.revoke, { token: renewed.refresh_token }, basic(web));
  // Refusals tell no more than successes.
  const wrong = "a-secret-that-somebody-mistyped";
  await send(paths.token, form, basic({ ...machine, secret: wrong }));
  await service.userinfo(`${renewed.access_token}x`);
  await service.get(`/users/${alice.id}`, { token: asJwt.access_token });

  const secrets = [
    ...[issued, renewed, ofMachine, asJwt].flatMap((each) => [
      ...[each.access_token, each.refresh_token, each.id_token],
    ]),
    ...[web.secret, jwt.secret, machine.secret, wrong, password, code, ...agent.cookies.values()],
  ].filter((each) => typeof each === "string");
  assert.ok(secrets.length > 15);
  const log = lines.join("");
  for (const path of Object.values(paths).slice(2, 5)) assert.ok(log.includes(path), path);
  for (const secret of secrets) {
    assert.notEqual(secret, "");
    assert.ok(!log.includes(secret), `${secret.slice(0, 12)}... stands in the log`);
  }
});
