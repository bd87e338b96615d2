// Run: shared
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { isJwt, readIdTokenHint } from "../../src/oidc/core/authorize/id-token-hint.ts";
import type { Keys, PublicKey } from "../../src/oidc/core/key-ports.ts";
import type { At } from "../../src/oidc/core/ports.ts";

const issuer = "https://id.example.test";
const formerIssuer = "http://localhost:8080";
const at = { instanceId: "one", issuer } as At;
const right = { iss: issuer, sub: "alice", sid: "s1", azp: "web", aud: ["api", "web"] };
let keys: Keys;
let sign: (
  claims: Record<string, unknown>,
  header?: Partial<JWTHeaderParameters>,
) => Promise<string>;

before(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const known = { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" } as PublicKey;
  const signer = () => assert.fail("a hint is signed by nobody");
  const isIssuer = (_: At, issued: string) => [issuer, formerIssuer].includes(issued);
  keys = { publicKeys: async () => [known], signer, isIssuer };
  sign = (claims, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k1", ...header }).sign(privateKey);
});

describe("an id_token_hint (OpenID Connect Core 1.0 section 3.1.2.2)", () => {
  const read = (token: string) => readIdTokenHint(keys, at, token);

  it("tells user, session and client, also when it has expired", async () => {
    const hint = { userId: "alice", sessionId: "s1", clientId: "web" };
    assert.deepEqual(await read(await sign({ ...right, exp: 1 })), hint);
    const { azp: _, ...plain } = right;
    assert.deepEqual(await read(await sign(plain)), { ...hint, clientId: "api" });
    assert.deepEqual(await read(await sign({ ...right, iss: formerIssuer })), hint);
  });

  it("is nothing when it is of another issuer, kind or key, or was changed (D31)", async () => {
    const wrong = [
      await sign({ ...right, iss: "https://other.example.test" }),
      await sign({ ...right, iss: 1 }),
      await sign({ ...right, events: {} }),
      await sign({ ...right, sub: 1 }),
      await sign(right, { typ: "at+jwt" }),
      await sign(right, { kid: "k2" }),
    ];
    const [header = "", , signature = ""] = (await sign(right)).split(".");
    const other = Buffer.from(JSON.stringify({ ...right, sub: "bob" })).toString("base64url");
    for (const token of [...wrong, `${header}.${other}.${signature}`])
      assert.equal(await read(token), undefined, token);
  });

  it("has the form of a JWT, which is 16 KiB at the most", () => {
    const object = Buffer.from("{}").toString("base64url");
    const list = Buffer.from("[]").toString("base64url");
    assert.equal(isJwt(`${object}.${object}.x`), true);
    assert.equal(isJwt(`${object}.x.x.x.x`), true);
    for (const text of [`${list}.${object}.x`, `${object}.${list}.x`, `${object}.${object}`])
      assert.equal(isJwt(text), false, text);
    assert.equal(isJwt(`${object}.${object}.${"x".repeat(16_384)}`), false);
  });
});
