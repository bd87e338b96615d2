import { hash } from "node:crypto";
import { cryptDigitsOf } from "./base64.ts";
import { checkCost, equalTexts, malformed, type Scheme } from "./scheme.ts";

const form = /^\$([56])\$(?:rounds=(\d{1,10})\$)?([^$]{1,16})\$([./A-Za-z0-9]+)$/;
const usualRounds = 5_000;

/** A digest and the order in which its bytes are written: groups of three, each made from the one before. */
type Variant = {
  digest: "sha256" | "sha512";
  digits: number;
  /** The next group of three bytes. */
  next: (a: number, b: number, c: number) => [number, number, number];
  first: [number, number, number];
  groups: number;
  /** The bytes left over, highest first. */
  rest: number[];
};

const variants: Record<string, Variant> = {
  5: {
    digest: "sha256",
    digits: 43,
    first: [0, 10, 20],
    next: (a, b, c) => [c + 1, a + 1, b + 1],
    groups: 10,
    rest: [31, 30],
  },
  6: {
    digest: "sha512",
    digits: 86,
    first: [0, 21, 42],
    next: (a, b, c) => [b + 1, c + 1, a + 1],
    groups: 21,
    rest: [63],
  },
};

/** SHA-crypt of SHA-256, `$5$`, and SHA-512, `$6$` (Drepper, "Unix crypt using SHA-256 and SHA-512", 2008). */
export const shaCrypt: Scheme = (encoded) => {
  if (!/^\$[56]\$/.test(encoded)) return undefined;
  const [, name = "", count, salt = "", wanted = ""] = form.exec(encoded) ?? [];
  const variant = variants[name];
  if (variant === undefined || wanted.length !== variant.digits)
    throw malformed("$6$rounds=<rounds>$<1 to 16 characters of salt>$<86 of hash>");
  const rounds = count === undefined ? usualRounds : Number(count);
  checkCost("rounds", rounds, 1_000, 1_000_000);
  return {
    scheme: `${variant.digest}-crypt`,
    matches: (password) =>
      equalTexts(
        written(digestOf(variant, Buffer.from(password), Buffer.from(salt), rounds), variant),
        wanted,
      ),
  };
};

function digestOf({ digest: name }: Variant, password: Buffer, salt: Buffer, rounds: number) {
  const digest = (...parts: Uint8Array[]) => hash(name, Buffer.concat(parts), "buffer");
  const inner = digest(password, salt, password);
  const outer = [password, salt, stretched(inner, password.length)];
  for (let bits = password.length; bits > 0; bits >>= 1)
    outer.push(bits % 2 === 1 ? inner : password);
  let result = digest(...outer);
  const passwordBytes = stretched(
    digest(...Array.from({ length: password.length }, () => password)),
    password.length,
  );
  const saltBytes = stretched(
    digest(...Array.from({ length: 16 + (result[0] ?? 0) }, () => salt)),
    salt.length,
  );
  for (let round = 0; round < rounds; round++) {
    const isOdd = round % 2 === 1;
    const parts = [isOdd ? passwordBytes : result];
    if (round % 3 !== 0) parts.push(saltBytes);
    if (round % 7 !== 0) parts.push(passwordBytes);
    parts.push(isOdd ? result : passwordBytes);
    result = digest(...parts);
  }
  return result;
}

/** The bytes over and over, to this length. */
const stretched = (bytes: Buffer, length: number): Buffer =>
  length === 0 ? Buffer.of() : Buffer.alloc(length, bytes);

function written(digest: Buffer, { first, next, groups, rest }: Variant): string {
  let text = "";
  for (let group = first, at = 0; at < groups; at++, group = next(...group))
    text += cryptDigitsOf(numberOf(digest, group), 4);
  return text + cryptDigitsOf(numberOf(digest, rest), rest.length + 1);
}

const numberOf = (digest: Buffer, indexes: readonly number[]): number =>
  indexes.reduce((sum, index) => (sum << 8) | (digest[index] ?? 0), 0);
