import { createPublicKey, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { forgeHmac, forgeJwt } from "../support/forge.ts";

type Part = Record<string, unknown>;
/** A valid token, and what signs or checks it: what a mutation may use. */
export type Original = { jwt: string; publicPem?: string; others: readonly string[] };
export type Mutation = (original: Original) => string;

const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const strangerPem = String(stranger.privateKey.export({ type: "pkcs8", format: "pem" }));
const strangerJwk = stranger.publicKey.export({ format: "jwk" });

const read = (part = ""): Part => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
const written = (part: Part) => Buffer.from(JSON.stringify(part)).toString("base64url");
const partsOf = (jwt: string): [string, string, string] => {
  const [head = "", body = "", signature = ""] = jwt.split(".");
  return [head, body, signature];
};
const named = (told: string, mutate: Mutation): Mutation =>
  Object.assign(mutate, { [fc.toStringMethod]: () => told });

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** One character, anywhere, or at the end of a part, where base64url has bits that say nothing. */
const character = fc
  .tuple(fc.nat(), fc.nat({ max: 63 }), fc.boolean(), fc.nat({ max: 2 }))
  .map(([at, to, atEnd, part]) =>
    named(
      `character ${atEnd ? `at the end of part ${part}` : at} to ${alphabet[to]}`,
      ({ jwt }) => {
        const ends = partsOf(jwt).map(
          (_, index, all) => all.slice(0, index + 1).join(".").length - 1,
        );
        const place = atEnd ? (ends[part] ?? 0) : at % jwt.length;
        return jwt.slice(0, place) + (alphabet[to] ?? "") + jwt.slice(place + 1);
      },
    ),
  );

const around = fc
  .constantFrom("=", "==", ".", " ", "\t", "A", "%00", ".e30", "\u00a0")
  .chain((more) =>
    fc
      .boolean()
      .map((before) =>
        named(`${before ? "before" : "after"} it ${JSON.stringify(more)}`, ({ jwt }) =>
          before ? more + jwt : jwt + more,
        ),
      ),
  );

/** Parts left out, doubled, in another order, or of another valid token. */
const segments = fc
  .array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 3 })), { minLength: 1, maxLength: 5 })
  .map((chosen) =>
    named(`parts ${chosen.map(([part, of]) => `${part} of ${of}`).join(", ")}`, ({ jwt, others }) =>
      chosen.map(([part, of]) => partsOf([jwt, ...others][of] ?? jwt)[part]).join("."),
    ),
  );

const values = fc.oneof(
  fc.constantFrom<unknown>(
    "none",
    "None",
    "HS256",
    "RS256",
    "PS256",
    "ES256",
    "",
    null,
    0,
    1e12,
    true,
    "at+jwt",
    "logout+jwt",
    "JWT",
    "../../etc/passwd",
    "404",
    [],
    {},
    ["exp"],
    strangerJwk,
  ),
  fc.jsonValue(),
);
const headers = [
  "alg",
  "kid",
  "typ",
  "crit",
  "b64",
  "jwk",
  "jku",
  "x5c",
  "x5u",
  "cty",
  "zip",
  "enc",
];
const claims = [
  "iss",
  "sub",
  "aud",
  "azp",
  "exp",
  "iat",
  "nbf",
  "jti",
  "sid",
  "scope",
  "client_id",
];

type Resign = "not" | "by a stranger" | "by hmac" | "by nobody";
const resigned = fc.constantFrom<Resign>("not", "by a stranger", "by hmac", "by nobody");

/** A member of the header or the claims set to something else, and the signature kept, made by another key, or left out. */
const member = fc
  .tuple(fc.boolean(), fc.nat(), values, resigned)
  .map(([inHeader, at, value, by]) => {
    const names = inHeader ? headers : claims;
    const name = names[at % names.length] ?? "alg";
    return named(`${name} to ${JSON.stringify(value)}, signed anew ${by}`, (original) => {
      const [head, body, signature] = partsOf(original.jwt);
      const header = inHeader ? { ...read(head), [name]: value } : read(head);
      const payload = inHeader ? read(body) : { ...read(body), [name]: value };
      switch (by) {
        case "not":
          return `${written(header)}.${written(payload)}.${signature}`;
        case "by nobody":
          return `${written({ alg: "none", ...header })}.${written(payload)}.`;
        case "by a stranger":
          return forgeJwt(header, payload, strangerPem);
        case "by hmac":
          return forgeHmac({ ...header, alg: "HS256" }, payload, original.publicPem ?? "secret");
      }
    });
  });

export const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 3, arbitrary: character },
  { weight: 1, arbitrary: around },
  { weight: 2, arbitrary: segments },
  { weight: 4, arbitrary: member },
);

export const publicPemOf = (privateKey: string): string =>
  String(createPublicKey(privateKey).export({ type: "spki", format: "pem" }));
