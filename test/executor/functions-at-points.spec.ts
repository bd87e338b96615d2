// Run: shared
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { addPersonNamed, authorizeUrl, signedIn, signIn } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { basic, type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf, userAgent } from "../support/user-agent.ts";

type Told = Record<string, unknown> & { function: string };

let peer: OidcPeer;
let web: MadeClient;
let imp: MadeClient;
let target = "";
const told: Told[] = [];
let answer: object = {};

const receiver = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    told.push(JSON.parse(text));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
});

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  peer = await startOidc();
  web = await peer.addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
  imp = await peer.addClient({
    response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN"],
    grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
  });
  const made = await peer.post("/targets", {
    name: uniqueName("target"),
    rest_request_response: { url },
    interrupt_on_error: true,
  });
  target = bodyOf(made, 201).details.id;
});
after(async () => {
  receiver.close();
  await peer[Symbol.asyncDispose]();
});

async function during<T>(name: string, answers: object, work: () => Promise<T>): Promise<T> {
  const condition = { function: name };
  const put = await peer.post("/executions", { condition, targets: [target] });
  assert.ok(put.status === 201 || put.status === 200, put.refusal?.message);
  told.length = 0;
  answer = answers;
  try {
    return await work();
  } finally {
    bodyOf(await peer.remove(`/executions/function.${name}`));
  }
}
const claim = {
  append_claims: [
    { key: "team", value: "blue" },
    { key: "sub", value: "root" },
  ],
};

describe("functions at their points (X12)", () => {
  it("preuserinfo adds claims to userinfo and introspection, and none that is reserved", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const { access_token: token } = await peer.tokensFor(web, id, { scope: ["openid"] });
    await during("preuserinfo", claim, async () => {
      const { body } = await peer.userinfo(token);
      assert.equal(body.team, "blue");
      assert.equal(body.sub, id);
      assert.match(body["urn:idsvc:iam:action:preuserinfo:log"][0], /"sub" is reserved/);
      assert.equal((await peer.introspect(token, web)).team, "blue");
    });
    const [first] = told;
    assert.equal(first?.function, "preuserinfo");
    assert.deepEqual(first?.["application"], { client_id: web.clientId });
    assert.equal(Object(first?.["userinfo"]).sub, id);
    assert.ok(JSON.stringify(first?.["user"]).includes(loginName.split("@")[0] ?? ""));
    assert.equal(Object(first?.["org"]).id, peer.app.made.organization_id);
    assert.equal((await peer.userinfo(token)).body.team, undefined);
  });

  it("preaccesstoken adds claims to JWT access tokens", async () => {
    const { id } = await addPersonNamed(peer);
    await during("preaccesstoken", claim, async () => {
      const tokens = await peer.tokensFor(web, id, { scope: ["openid"] });
      const claims = decodeJwt(tokens.access_token);
      assert.equal(claims["team"], "blue");
      assert.equal(claims.sub, id);
      assert.equal(decodeJwt(tokens.id_token)["team"], undefined);
    });
  });

  it("preidtoken adds claims to ID tokens, from whichever endpoint", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    await during("preidtoken", claim, async () => {
      const asked = authorizeUrl(peer, imp, { response_type: "id_token", nonce: "n" });
      const token = answerOf(await agent.open(asked)).get("id_token") ?? "";
      assert.equal(decodeJwt(token)["team"], "blue");
    });
  });

  it("a target that refuses ends the request with access_denied, in its words", async () => {
    const { id } = await addPersonNamed(peer);
    const code = await peer.codeFor(web, id);
    const refusal = { forwardedStatusCode: 403, forwardedErrorMessage: "not today" };
    await during("preidtoken", refusal, async () => {
      const form = { grant_type: "authorization_code", code, redirect_uri: "https://rp.test/cb" };
      const { status, body } = await peer.send(paths.token, form, basic(web));
      assert.equal(status, 400);
      assert.equal(body.error, "access_denied");
      assert.match(body.error_description, /not today/);
    });
  });

  it("postauthentication sees who logs in, keeps metadata, and may refuse", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const metadata = [{ key: "seen", value: Buffer.from("yes").toString("base64") }];
    await during("postauthentication", { set_user_metadata: metadata }, async () => {
      await signedIn(peer, web, loginName);
    });
    const { metadata: kept } = bodyOf(await peer.get(`/users/${id}/metadata/seen`));
    assert.equal(kept.value, Buffer.from("yes").toString("base64"));
    const refusal = { forwardedStatusCode: 403, forwardedErrorMessage: "not today" };
    await during("postauthentication", refusal, async () => {
      const agent = userAgent(peer.issuer);
      await agent.open(authorizeUrl(peer, web));
      const shown = await signIn(agent, loginName);
      assert.equal(shown.left, undefined);
      assert.equal(shown.status, 403);
    });
  });

  it("X10: nobody who may repair executions is kept from logging in", async () => {
    const refusal = { forwardedStatusCode: 403, forwardedErrorMessage: "not today" };
    const owner = await addPersonNamed(peer);
    const ctx = { instance_id: peer.app.made.instance_id };
    bodyOf(await peer.post("/memberships", { ctx, user_id: owner.id, roles: ["IAM_OWNER"] }), 201);
    await during("postauthentication", refusal, async () => {
      await signedIn(peer, web, owner.loginName);
    });
  });

  it("precreation and postcreation stand around a registration", async () => {
    const pages = loginPages(peer, web);
    const register = async () => {
      const name = uniqueName("nina").replace(" ", "");
      const agent = await pages.begin({ prompt: "create" });
      const email = `${name}@example.test`;
      await agent.submit({ given_name: "Nina", family_name: "Simone", email });
      await agent.submit({ code: (await pages.lastMail()).code });
      return agent.submit({ new_password: "correct horse battery staple" });
    };
    await during("precreation", {}, async () => {
      assert.ok((await register()).left);
    });
    assert.equal(Object(told[0]?.["user"]).data.given_name, "Nina");
    const events = await peer.eventCount();
    const refusal = { forwardedStatusCode: 403, forwardedErrorMessage: "members only" };
    await during("precreation", refusal, async () => {
      assert.equal((await register()).status, 403);
    });
    // The execution itself was put and deleted.
    assert.equal(await peer.eventCount(), events + 2);
    await during("postcreation", {}, register);
    assert.equal(told[0]?.function, "postcreation");
  });
});
