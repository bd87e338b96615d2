// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createPasswordStore } from "../../src/resources/user/index.ts";
import { vectors } from "../crypto/imported-hash-vectors.ts";
import { importPeer } from "../management/import-peer.ts";
import { codeIn, type LoginPages, loginPages } from "../support/login-pages.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";

let peer: OidcPeer;
let pages: LoginPages;
before(async () => {
  peer = await startOidc();
  pages = loginPages(peer, await peer.addClient());
});
after(() => peer[Symbol.asyncDispose]());

// One of each scheme, with a password that a person types.
const people = [...new Map(vectors.map((vector) => [vector.scheme, vector])).values()]
  .map(
    ({ scheme }) =>
      vectors.find((each) => each.scheme === scheme && /^.{6,40}$/.test(each.password)) ??
      assert.fail(`${scheme} has no vector`),
  )
  .map((vector, nth) => ({ ...vector, userId: `moved-${nth}` }));

describe("people who were imported with hashes (G3)", () => {
  it("log in through the browser, whatever made the hash, which is then one of our own", async () => {
    const humanUsers = people.map(({ userId, encoded }) => ({
      userId,
      user: {
        userName: userId,
        profile: { firstName: "Ada", lastName: "Lovelace" },
        email: { email: `${userId}@example.test`, isEmailVerified: true },
        hashedPassword: { value: encoded },
      },
    }));
    const { errors } = await importPeer(peer).bring([
      { orgId: peer.app.made.organization_id, humanUsers },
    ]);
    assert.deepEqual(errors, []);
    const { secrets } = peer.app.kernel;
    const isImported = async (userId: string) => {
      const of = { instanceId: peer.app.made.instance_id, userId };
      return "imported" in ((await createPasswordStore(secrets).read(of)) ?? {});
    };
    for (const { scheme, userId, password } of people) {
      assert.equal(await isImported(userId), true, scheme);
      const agent = await pages.begin();
      await agent.submit({ login_name: userId });
      codeIn(await agent.submit({ password }));
      assert.equal(await isImported(userId), false, scheme);
    }
    const [first] = people;
    assert.ok(first);
    const agent = await pages.begin();
    await agent.submit({ login_name: first.userId });
    const wrong = await agent.submit({ password: `${first.password}!` });
    assert.match(wrong.html, /Login name or password is wrong/);
    codeIn(await agent.submit({ password: first.password }));
  });
});
