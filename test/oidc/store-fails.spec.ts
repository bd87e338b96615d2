import assert from "node:assert/strict";
import { after, it } from "node:test";
import { beside } from "../support/beside.ts";
import { assertRefused, basic, paths, redirectUri, startOidc } from "../support/oidc.ts";

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
