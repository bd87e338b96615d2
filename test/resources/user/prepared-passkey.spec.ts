// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator, type Manner } from "../../support/authenticator.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { goodPassword, startUserPeer, together } from "./user-peer.ts";
import { invalid, local, webAuthNCalls, wrong } from "./web-authn-calls.ts";

const service = await startUserPeer();
const { post, remove, addPerson, authenticatorsOf, eventsOf } = service;
const { start, begin, registered, challenge, login } = webAuthNCalls(service);
after(() => service[Symbol.asyncDispose]());

describe("a passkey that a browser makes by itself (decision 0334)", () => {
  const set = async (values: JsonObject) =>
    bodyOf(
      await service.peer.rest("PATCH", "/settings/v3alpha/login", values, {
        token: service.app.token,
      }),
    );
  before(() => set({ prepare_passkeys: { set: true } }));
  after(() => set({ prepare_passkeys: { reset: true } }));

  const shownOf = async (id: string) => (await authenticatorsOf(id))["web_auth_n"] as JsonObject[];
  const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type);
  const hash = "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2";
  const withPassword = () => addPerson({ authenticators: { password: { hash } } });
  const setPassword = async (id: string) =>
    bodyOf(await post(`/users/${id}/password`, { password: goodPassword }));

  /** Nobody was there, and nobody was verified. */
  const unasked: Manner = { ...local, isPresent: false, isVerified: false };

  async function prepared() {
    const id = await withPassword();
    const { options, verify, webAuthNId } = await begin(id, { conditional: true });
    const authenticator = new Authenticator();
    bodyOf(await verify(authenticator.create(options, unasked)));
    return { id, options, webAuthNId, authenticator };
  }

  it("is made while nobody is there; it says whose it is, and is not verified", async () => {
    const { id, options } = await prepared();
    const { residentKey, userVerification } = Object(options["authenticatorSelection"]);
    assert.deepEqual([residentKey, userVerification], ["required", "preferred"]);
    const [shown, ...more] = await shownOf(id);
    assert.deepEqual(more, []);
    assert.deepEqual([shown?.["is_verified"], shown?.["user_verified"]], [false, true]);
    assert.equal((await typesOf(id)).at(-1), "user.human.passwordless.token.prepared");
  });

  it("is refused to what is asked of it for another registration", async () => {
    const { options, verify } = await begin(await withPassword());
    const { refusal } = await verify(new Authenticator().create(options, unasked));
    assertRefused(refusal, invalid);
  });

  it("is asked of nobody, and proves nothing before it has verified its user", async () => {
    const { id, authenticator } = await prepared();
    assert.equal(await challenge(id, "preferred"), undefined);
    assert.deepEqual(await login(id, authenticator, { isVerified: false }), wrong);
    assert.equal((await shownOf(id))[0]?.["is_verified"], false);
  });

  it("counts from its first use on, as every passkey does", async () => {
    const { id, authenticator, webAuthNId } = await prepared();
    const right = { isRight: true, webAuthNId, isUserVerified: true };
    assert.deepEqual(await login(id, authenticator), { ...right, isConfirmed: true });
    assert.deepEqual(await login(id, authenticator), { ...right, isConfirmed: false });
    assert.equal((await shownOf(id))[0]?.["is_verified"], true);
    assert.notEqual(await challenge(id, "preferred"), undefined);
    const confirmed = "user.human.passwordless.token.confirmed";
    assert.equal((await typesOf(id)).filter((type) => type === confirmed).length, 1);
  });

  it("is confirmed once by uses at the same time", async () => {
    const { id, authenticator } = await prepared();
    const answers = await together(4, () => login(id, authenticator, { signCount: 0 }));
    assert.ok(answers.every(({ isRight }) => isRight));
    const confirmed = "user.human.passwordless.token.confirmed";
    assert.equal((await typesOf(id)).filter((type) => type === confirmed).length, 1);
  });

  it("ends with the password by which its owner had logged in, unless it was used", async () => {
    const [unused, used] = [await prepared(), await prepared()];
    assert.equal((await login(used.id, used.authenticator)).isRight, true);
    for (const { id } of [unused, used]) await setPassword(id);
    assert.deepEqual(await shownOf(unused.id), []);
    assert.equal((await typesOf(unused.id)).at(-1), "user.human.passwordless.token.removed");
    assert.deepEqual(await login(unused.id, unused.authenticator).catch(() => wrong), wrong);
    assert.equal((await shownOf(used.id)).length, 1);
    const third = await prepared();
    bodyOf(await remove(`/users/${third.id}/password`));
    assert.deepEqual(await shownOf(third.id), []);
  });

  it("keeps nobody from making one on the same device, who asks for it", async () => {
    const { id } = await prepared();
    const { options, verify } = await begin(id);
    assert.deepEqual(options["excludeCredentials"] ?? [], []);
    bodyOf(await verify(new Authenticator().create(options, local)));
  });

  it("is refused where the user has one, and where the settings do not let browsers make any", async () => {
    const conditional = { conditional: true };
    const needless = { code: 9, reason: "CONDITIONAL_CREATE_NEEDLESS" };
    assertRefused((await start((await prepared()).id, conditional)).refusal, needless);
    assertRefused((await start((await registered()).id, conditional)).refusal, needless);
    const off = { code: 9, reason: "CONDITIONAL_CREATE_OFF" };
    const id = await withPassword();
    for (const name of ["passkeys_allowed", "prepare_passkeys"]) {
      await set({ [name]: { set: false } });
      assertRefused((await start(id, conditional)).refusal, off, name);
      await set({ [name]: name === "prepare_passkeys" ? { set: true } : { reset: true } });
    }
    bodyOf(await start(id, conditional));
  });
});
