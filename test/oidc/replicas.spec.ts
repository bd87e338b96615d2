// Run: shared, store
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Answer,
  basic,
  paths,
  read,
  redirectUri,
  startOidc,
  whileBusy,
} from "../support/oidc.ts";
import { decodeProtectedHeader } from "jose";
import { storeOfMany } from "../support/processes.ts";
import { bodyOf } from "../support/peer.ts";
import { roundsOf } from "../support/rounds.ts";
import { forgeJwt } from "../support/forge.ts";

const store = await storeOfMany();
const service = await startOidc(store.first());
const { issuer, now, addClient, addPerson, addMachine, codeFor, tokensFor } = service;
const second = await store.start({ env: { IDSVC_EXTERNAL_URL: issuer }, now });
after(async () => {
  for (const each of [second, service, store]) await each[Symbol.asyncDispose]();
});

/** Sends a form to one of the two, under the one name that both have. */
async function sendTo(
  turn: number,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const ports = [service.app.port, second.port];
  return whileBusy(async () =>
    read(
      await fetch(`http://localhost:${ports[turn % 2]}${path}`, {
        method: "POST",
        body: new URLSearchParams(form),
        headers,
      }),
    ),
  );
}
const together = (count: number, attempt: (turn: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, turn) => attempt(turn)));
const rounds = roundsOf(10);

describe("two processes that serve one store", () => {
  it("D12: of 50 redemptions of a code over both at most one succeeds", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    for (let round = 0; round < rounds; round++) {
      const code = await codeFor(client, user);
      const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
      const answers = await together(50, (turn) => sendTo(turn, paths.token, form, basic(client)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const { status, body } of answers) {
        if (status !== 200) assert.equal(body.error, "invalid_grant", JSON.stringify(body));
      }
    }
  });

  it("D11: a code that was used on one and comes again to the other, which made it, ends what came of it", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const form = async () => ({
      grant_type: "authorization_code",
      code: await codeFor(client, user),
      redirect_uri: redirectUri,
    });
    // Codes are made by the first of them, which does not read what it made.
    for (const [one, other] of [
      [1, 0],
      [0, 1],
      [0, 0],
      [1, 1],
    ] as const) {
      const redeem = await form();
      const { body } = await sendTo(one, paths.token, redeem, basic(client));
      const again = await sendTo(other, paths.token, redeem, basic(client));
      assert.equal(again.status, 400);
      assert.equal(again.body.error, "invalid_grant");
      const token = body.access_token;
      const seen = await sendTo(other, paths.introspect, { token }, basic(client));
      assert.deepEqual(seen.body, { active: false });
    }
  });

  it("tell settings as the other has just set them, also to an organization that asks first (C2)", async () => {
    const { token } = service.app;
    const ask = async (turn: number, path: string, organizationId = "", body?: object) => {
      const ports = [service.app.port, second.port];
      const answer = await fetch(`http://localhost:${ports[turn]}${path}`, {
        method: body === undefined ? "GET" : path.startsWith("/settings") ? "PATCH" : "POST",
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(organizationId === "" ? {} : { "x-idsvc-orgid": organizationId }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.ok(answer.ok, String(answer.status));
      return read(answer);
    };
    const path = "/settings/v3alpha/branding";
    for (let round = 0; round < 5; round++) {
      const made = await ask(0, "/resources/v3alpha/organizations", "", { name: randomUUID() });
      const organizationId = String(made.body.details.id);
      // The other one holds what the instance says.
      await ask(1, path);
      await ask(0, path, "", { product_name: { set: `name ${round}` } });
      const told = await ask(1, path, organizationId);
      assert.equal(told.body.settings.product_name.value, `name ${round}`);
    }
  });

  it("sign by a key of the algorithm that an app asks for, whichever of them made it (decision 0261)", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const active = bodyOf(await service.post("/web_keys", { ed25519: {} }), 201).details.id;
    bodyOf(await service.post(`/web_keys/${active}/_activate`));
    for (let round = 0; round < rounds; round++) {
      for (const { details } of bodyOf(await service.get("/web_keys")).web_keys) {
        if (details.id !== active) bodyOf(await service.remove(`/web_keys/${details.id}`));
      }
      const codes = await Promise.all(Array.from({ length: 8 }, () => codeFor(client, user)));
      const answers = await together(codes.length, (turn) => {
        const code = codes[turn] ?? "";
        const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
        return sendTo(turn, paths.token, form, basic(client));
      });
      for (const { status, body } of answers) {
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(decodeProtectedHeader(body.id_token).alg, "RS256");
      }
    }
  });

  it("D33: of 50 uses of a refresh token over both none leaves two living descendants", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    for (let round = 0; round < rounds; round++) {
      const first = await tokensFor(client, user, { scope: ["openid", "offline_access"] });
      const use = (turn: number, refresh_token: string) =>
        sendTo(turn, paths.token, { grant_type: "refresh_token", refresh_token }, basic(client));
      const answers = await together(50, (turn) => use(turn, first.refresh_token));
      const won = answers.filter(({ status }) => status === 200);
      assert.ok(won.length <= 1);
      const descendants = await Promise.all(won.map(({ body }) => use(0, body.refresh_token)));
      for (const { body } of descendants) assert.equal(body.error, "invalid_grant");
    }
  });

  it("D30: an assertion counts once over both", async () => {
    const machine = await addMachine();
    const key = await service.addKey(machine.id);
    for (let round = 0; round < rounds; round++) {
      const iat = Math.floor(now().getTime() / 1000);
      const claims = { iss: machine.id, sub: machine.id, aud: issuer, jti: randomUUID() };
      const header = { alg: "RS256", kid: key.keyId };
      const assertion = forgeJwt(header, { ...claims, iat, exp: iat + 60 }, key.privateKey);
      const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
      const form = { grant_type, assertion, scope: "openid" };
      const answers = await together(10, (turn) => sendTo(turn, paths.token, form));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    }
  });

  it("D36: what was revoked or locked on one is refused on the other within a second", async () => {
    const client = await addClient();
    const seenBySecond = async (token: string) =>
      (await sendTo(1, paths.introspect, { token }, basic(client))).body.active;
    const endings: ((user: string, token: string) => Promise<unknown>)[] = [
      (user) => service.post(`/users/${user}/_lock`),
      (_, token) => service.send(paths.revoke, { token }, basic(client)),
    ];
    for (const end of endings) {
      const user = await addPerson();
      const { access_token: token } = await tokensFor(client, user);
      // The other one has it in its memory.
      assert.equal(await seenBySecond(token), true);
      await end(user, token);
      await delay(1000);
      assert.equal(await seenBySecond(token), false);
    }
  });
});
