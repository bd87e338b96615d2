import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type MadeClient, type OidcPeer, paths, redirectUri } from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { type Contestants, judgeOne, together } from "./race-contestants.ts";
import type { Race } from "./races.ts";

const refusedAs = "invalid_grant";
const times = <T>(many: number, made: T): T[] => Array.from({ length: many }, () => made);

const clients = new WeakMap<OidcPeer, Promise<{ client: MadeClient; user: string }>>();
function known({ peer }: Contestants) {
  let found = clients.get(peer);
  if (found === undefined) {
    found = (async () => ({ client: await peer.addClient(), user: await peer.addPerson() }))();
    clients.set(peer, found);
  }
  return found;
}

/** What counts once counts once: of many uses at the same time one is right. */
export const onceRaces: Readonly<Record<string, Race>> = {
  async "a code"(all, many) {
    const { client, user } = await known(all);
    const code = await all.peer.codeFor(client, user);
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
    const answers = await together(times(many, all.form(paths.token, form, client)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, body } of answers) if (status !== 200) assert.equal(body.error, refusedAs);
  },

  async "a refresh token"(all, many) {
    const { client, user } = await known(all);
    const first = await all.peer.tokensFor(client, user, { scope: ["openid", "offline_access"] });
    const use = (refresh_token: string) =>
      all.form(paths.token, { grant_type: "refresh_token", refresh_token }, client);
    const answers = await together(times(many, use(first.refresh_token)));
    const won = answers.filter(({ status }) => status === 200);
    assert.ok(won.length <= 1, `${won.length} living descendants`);
    for (const { status, body } of answers) if (status !== 200) assert.equal(body.error, refusedAs);
    for (const { body } of won) {
      const after = await use(body.refresh_token)(1);
      assert.equal(after.body.error, refusedAs, "a descendant of a token that was used twice");
    }
  },

  async "an assertion"(all, many) {
    const { peer } = all;
    const machine = await peer.addMachine();
    const key = await peer.addKey(machine.id);
    const iat = Math.floor(peer.now().getTime() / 1000);
    const claims = { iss: machine.id, sub: machine.id, aud: peer.issuer, jti: randomUUID() };
    const header = { alg: "RS256", kid: key.keyId };
    const assertion = forgeJwt(header, { ...claims, iat, exp: iat + 60 }, key.privateKey);
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const form = { grant_type, assertion, scope: "openid" };
    const answers = await together(times(many, all.form(paths.token, form)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, body } of answers) if (status !== 200) assert.equal(body.error, refusedAs);
  },

  async "a code of an address"(all, many) {
    const user = { username: uniqueName("racer"), data: { given_name: "Ada" } };
    const contact = { email: { address: "racer@example.com", return_code: {} } };
    const made = bodyOf(await all.peer.post("/users", { ...user, contact }), 201);
    const path = `/users/${made.details.id}/email/_verify`;
    const verify = all.call("POST", path, made.email_code);
    judgeOne(await together(times(many, verify)), "CODE_INVALID", "CONTACT_VERIFIED");
  },

  async "a code of a second factor"(all, many) {
    const { post } = all.peer;
    const user_id = await all.peer.addPerson();
    const address = { address: "racer@example.com", is_verified: true };
    bodyOf(await post(`/users/${user_id}/otp_email`, address));
    const checks = { user: { user_id } };
    const challenges = { otp_email: { return_code: {} } };
    const session = bodyOf(await post("/sessions", { checks, challenges }), 201);
    const proof = { checks: { otp_email: { code: session.challenges.otp_email } } };
    const check = all.call("PATCH", `/sessions/${session.details.id}`, proof);
    judgeOne(await together(times(many, check)), "INVALID_CREDENTIALS", "USER_CHANGED");
  },
};
