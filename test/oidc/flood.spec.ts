import assert from "node:assert/strict";
import { after, it } from "node:test";
import { passwordPool } from "../../src/crypto/password-pool.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { assertRefused, basic, paths, startOidc } from "../support/oidc.ts";
import { userAgent } from "../support/user-agent.ts";

const service = await startOidc();
const { send, post } = service;
after(() => service[Symbol.asyncDispose]());

// More than may wait for a thread on any machine that runs this.
const many = 64 * 20;

it("F22: a flood of passwords and secrets is refused in words, and everything else goes on", async () => {
  const web = await service.addClient();
  const alice = await addPersonNamed(service);
  const { access_token: token } = await service.tokensFor(web, alice.id);
  const agent = userAgent(service.issuer);
  await agent.open(authorizeUrl(service, web));
  await agent.submit({ login_name: alice.loginName });
  // The queue of the threads, which are those of this process, is full for the page: what is done makes room for another.
  let isFull = true;
  const hash = async (): Promise<void> => {
    const isDone = await passwordPool.run({ op: "hash", password }).then(
      () => true,
      () => false,
    );
    if (isDone && isFull) await hash();
  };
  const hashes = Array.from({ length: many }, hash);
  const shown = await agent.submit({ password }).finally(() => {
    isFull = false;
  });
  await Promise.all(hashes);

  const checks = { user: { user_id: alice.id }, password: { password } };
  // Each another name, so that nobody is throttled; what does not exist is hashed for as well.
  const flood = Array.from({ length: many }, (_, at) =>
    post("/sessions", { checks: { ...checks, user: { login_name: `nobody-${at}` } } }),
  );
  const secrets = Array.from({ length: 100 }, (_, at) =>
    send(paths.introspect, { token }, basic({ ...web, secret: `wrong${at}` })),
  );
  await Promise.race(flood);
  // Tokens are looked up as ever.
  const asked = await Promise.all(
    Array.from({ length: 20 }, () => send(paths.introspect, { token }, basic(web))),
  );
  for (const { status, body } of asked) assert.equal(`${status} ${body.active}`, "200 true");

  const answers = await Promise.all(flood);
  const refused = answers.filter(({ refusal }) => refusal?.reason !== "INVALID_CREDENTIALS");
  assert.ok(refused.length > 0 && refused.length < many, `${refused.length} of ${many} refused`);
  for (const { status, refusal, headers } of refused) {
    assert.equal(status, 503, JSON.stringify(refusal));
    assert.equal(refusal?.reason, "PASSWORD_HASHING_BUSY");
    assert.ok(Number(headers["retry-after"]) >= 1);
  }
  for (const answer of await Promise.all(secrets)) assertRefused(answer, 401, "invalid_client");
  assert.equal(shown.status, 503, shown.html.slice(0, 2500));
  assert.ok(Number(shown.headers.get("retry-after")) >= 1);
  assert.match(shown.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(shown.html, /<main/);
  // Nothing fell over.
  assert.equal((await post("/sessions", { checks })).status, 201);
  assert.equal((await service.userinfo(token)).status, 200);
});
