// Run: alone, costly
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { after, it } from "node:test";
import { passwordPool } from "../../src/crypto/password-pool.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { assertRefused, basic, paths, startOidc } from "../support/oidc.ts";
import { type Shown, userAgent } from "../support/user-agent.ts";

// What one source may do is tried elsewhere (test/authority/budgets.spec.ts).
// On a machine that does much else the last in the queue waits longer than a call may take.
const service = await startOidc({
  env: { IDSVC_BUDGET_GUESSES: "0", IDSVC_BUDGET_FLOWS: "0", IDSVC_CALL_TIMEOUT: "2m" },
});
const { send, post } = service;
const web = await service.addClient();
after(() => service[Symbol.asyncDispose]());

// Three times as many as may wait for the threads that hash: as many as there are cores but one, 64 for each.
const many = 3 * 64 * Math.max(1, availableParallelism() - 1);

it("F22: a flood of passwords and secrets is refused in words, and everything else goes on", async () => {
  const alice = await addPersonNamed(service);
  const { access_token: token } = await service.tokensFor(web, alice.id);
  const shown = await whileFull("127.0.0.1", () => signInAs(alice.loginName));

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

it("D82: a flood of one source keeps nobody else waiting (J12a)", async () => {
  const bob = await addPersonNamed(service);
  const shown = await whileFull("203.0.113.9", () => signInAs(bob.loginName));
  assert.ok(shown.left?.searchParams.has("code"), shown.html.slice(0, 2500));
});

async function signInAs(loginName: string): Promise<Shown> {
  const agent = userAgent(service.issuer);
  await agent.open(authorizeUrl(service, web));
  await agent.submit({ login_name: loginName });
  return agent.submit({ password });
}

/** Does something while the queue of the threads, which are those of this process, is full of what one source wants. */
async function whileFull<T>(source: string, act: () => Promise<T>): Promise<T> {
  let isFull = true;
  // What is done makes room for another.
  const hash = async (): Promise<void> => {
    const isDone = await passwordPool.run({ op: "hash", password }, source).then(
      () => true,
      () => false,
    );
    if (isDone && isFull) await hash();
  };
  const hashes = Array.from({ length: many }, hash);
  const done = await act().finally(() => {
    isFull = false;
  });
  await Promise.all(hashes);
  return done;
}
