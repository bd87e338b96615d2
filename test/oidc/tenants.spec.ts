// Run: shared
import assert from "node:assert/strict";
import { get } from "node:http";
import { after, describe, it } from "node:test";
import { basic, paths, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { systemCaller } from "../support/system-caller.ts";

const operator = systemCaller();
const service = await startOidc({ env: operator.env });
const { peer, addClient, addPerson, addMachine, tokensFor, send, issuer } = service;
after(() => service[Symbol.asyncDispose]());

const host = "i2.test";
const token = await operator.tokenFor(issuer);
const instance = {
  name: "second",
  domain: host,
  organization: { name: "C" },
  machine: { username: "robot", name: "Robot" },
};
bodyOf(await peer.rest("POST", "/resources/v3alpha/instances", instance, { token }), 201);

/** What the other instance answers to a token. `fetch` names no other host. */
function statusAway(path: string, bearer: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${bearer}` };
  return new Promise((resolve, reject) => {
    get({ port: service.app.port, path, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on("error", reject);
  });
}

describe("tokens of one instance at the host of another (D39)", () => {
  it("D39: are nothing at userinfo and the APIs, also when they were just used at home", async () => {
    const apis = "urn:idsvc:iam:org:project:id:idsvc:aud";
    const machine = await addMachine();
    const form = { grant_type: "client_credentials", scope: `openid ${apis}` };
    const { access_token: own } = (await send(paths.token, form, basic(machine))).body;
    const { access_token: users } = await tokensFor(await addClient(), await addPerson());
    for (const bearer of [own, users]) {
      assert.equal((await service.userinfo(bearer)).status, 200);
      assert.equal(await statusAway(paths.userinfo, bearer), 401);
    }
    const path = `/resources/v3alpha/users/${machine.id}`;
    assert.equal((await peer.rest("GET", path, undefined, { token: own })).status, 200);
    assert.equal(await statusAway(path, own), 401);
  });

  it("D39: has an issuer and keys of its own", async () => {
    const keysAt = async (headers = {}) =>
      Object(bodyOf(await peer.rest("GET", paths.keys, undefined, { headers }))).keys;
    const [ours, theirs] = [await keysAt(), await keysAt({ host })];
    assert.ok(theirs.length > 0);
    const kids = new Set(ours.map(({ kid }: { kid: string }) => kid));
    for (const { kid } of theirs) assert.ok(!kids.has(kid));
    const found = await peer.rest("GET", paths.discovery, undefined, { headers: { host } });
    assert.equal(bodyOf(found).issuer, `http://${host}:${service.app.port}`);
  });
});
