import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { forgeHmac, forgeJwt, unsignedJwt } from "../support/forge.ts";

export type Signer = { keyId: string; privateKey: string };
type Claims = Record<string, unknown>;
export type Case = { id: string; what: string; jwt: string };

const longText = "x".repeat(10_240);

/**
 * Assertions that nobody may take (D23 to D26 and D29), made from one that would hold.
 * @param claims gives claims that hold, with a `jti` of their own
 */
export function badAssertions(signer: Signer, claims: () => Claims, now: number): Case[] {
  const header = { alg: "RS256", kid: signer.keyId };
  const good = () => forgeJwt(header, claims(), signer.privateKey);
  const attacker = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const attackerPem = String(attacker.privateKey.export({ type: "pkcs8", format: "pem" }));
  const attackerJwk = attacker.publicKey.export({ format: "jwk" });
  const ours = createPublicKey(signer.privateKey);
  const spki = String(ours.export({ type: "spki", format: "pem" }));
  const jwk = ours.export({ format: "jwk" });
  const cases: Case[] = [];
  const add = (id: string, what: string, jwt: string) => cases.push({ id, what, jwt });

  for (const alg of ["none", "None", "nOnE", ""]) {
    add("D23", `alg "${alg}"`, unsignedJwt({ ...header, alg }, claims()));
  }
  const [head, body] = good().split(".");
  add("D23", "an empty signature", `${head}.${body}.`);
  add("D23", "two parts", `${head}.${body}`);
  const hmacKeys: [string, string | Uint8Array][] = [
    ["the PEM", spki],
    ["the PEM without newline", spki.trimEnd()],
    ["the DER", ours.export({ type: "spki", format: "der" })],
    ["the JWK", JSON.stringify(jwk)],
    ["the modulus", Buffer.from(jwk.n ?? "", "base64url")],
  ];
  for (const alg of ["HS256", "HS384", "HS512"]) {
    for (const [what, key] of hmacKeys) {
      add("D24", `${alg} keyed with ${what}`, forgeHmac({ ...header, alg }, claims(), key));
    }
  }
  const canary = "http://127.0.0.1:1/keys";
  for (const [name, value] of Object.entries({
    jwk: attackerJwk,
    jku: canary,
    x5u: canary,
    x5c: [attacker.publicKey.export({ type: "spki", format: "der" }).toString("base64")],
  })) {
    add("D25", `header ${name}`, forgeJwt({ ...header, [name]: value }, claims(), attackerPem));
  }
  for (const kid of ["404", "../../etc/passwd", "' OR 1=1--", longText, [signer.keyId], 7, "\0"]) {
    const what = `kid ${JSON.stringify(kid).slice(0, 30)}`;
    add("D26", what, forgeJwt({ alg: "RS256", kid }, claims(), signer.privateKey));
  }
  add("D26", "no kid", forgeJwt({ alg: "RS256" }, claims(), signer.privateKey));
  const { exp: _, ...endless } = claims();
  for (const [what, more] of Object.entries<Claims>({
    "exp past": { exp: now - 11 },
    "a life of 2 days": { exp: now + 2 * 86_400 },
    "a life of 2 days of which it is the last hour": { iat: now - 2 * 86_400, exp: now + 3000 },
    "nbf +61 s": { nbf: now + 61 },
    "iat +61 s": { iat: now + 61 },
    "exp as text": { exp: String(now + 60) },
    "exp 1e30": { exp: 1e30 },
    "no audience": { aud: undefined },
    "another audience": { aud: "https://other.test" },
    "two audiences": { aud: [claims()["aud"], "https://other.test"] },
  })) {
    add("D29", what, forgeJwt(header, { ...claims(), ...more }, signer.privateKey));
  }
  add("D29", "no exp", forgeJwt(header, endless, signer.privateKey));
  return cases;
}
