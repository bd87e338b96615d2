// Run: shared, store
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { beside } from "../support/beside.ts";
import { addPersonNamed, authorizeUrl, signedIn } from "../support/login.ts";
import { assertRefused, basic, paths, redirectUri, startOidc } from "../support/oidc.ts";
import { answerOf } from "../support/user-agent.ts";

const lines: string[] = [];
const service = await startOidc({ log: (line) => void lines.push(line) });
const { send } = service;
after(() => service[Symbol.asyncDispose]());

it("tells server_error when the store fails, and the cause only to the log", async () => {
  const [machine, web, user] = [
    await service.addMachine(),
    await service.addClient(),
    await service.addPerson(),
  ];
  const credentials = { grant_type: "client_credentials", scope: "openid" };
  const code = await service.codeFor(web, user);
  const redeem = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  const asked = [
    () => send(paths.token, credentials, basic(machine)),
    () => send(paths.token, redeem, basic(web)),
  ];
  await beside(service.app.kernel, "ALTER TABLE access_tokens RENAME TO access_tokens_away");
  for (const ask of asked) {
    lines.length = 0;
    const answer = await ask();
    assertRefused(answer, 500, "server_error");
    assert.doesNotMatch(answer.text, /access_tokens|SQL|relation|table/i);
    assert.match(lines.join(""), /access_tokens/);
  }
  await beside(service.app.kernel, "ALTER TABLE access_tokens_away RENAME TO access_tokens");
  // What was refused was not used up.
  for (const ask of asked) assert.equal((await ask()).status, 200);
});

it("tells the client of an authorization request the same, at its redirect URI", async () => {
  const [web, person] = [await service.addClient(), await addPersonNamed(service)];
  const agent = await signedIn(service, web, person.loginName);
  const ask = async () => answerOf(await agent.open(authorizeUrl(service, web)));
  const table = "authorization_codes";
  await beside(service.app.kernel, `ALTER TABLE ${table} RENAME TO ${table}_away`);
  lines.length = 0;
  const told = await ask();
  assert.equal(told.get("error"), "server_error");
  assert.equal(told.get("state"), "a-state");
  assert.equal(told.get("iss"), service.issuer);
  assert.doesNotMatch(String(told), /authorization_codes/);
  assert.match(lines.join(""), /authorization_codes/);
  await beside(service.app.kernel, `ALTER TABLE ${table}_away RENAME TO ${table}`);
  assert.match((await ask()).get("code") ?? "", /^idsvc_ac_/);
});
