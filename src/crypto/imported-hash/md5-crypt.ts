import { hash } from "node:crypto";
import { cryptDigitsOf } from "./base64.ts";
import { equalTexts, malformed, type Scheme } from "./scheme.ts";

const form = /^\$(1|apr1)\$([^$]{1,8})\$([./A-Za-z0-9]{22})$/;
const rounds = 1_000;
// Which bytes of the digest make four digits each, highest first.
const groups = [
  [0, 6, 12],
  [1, 7, 13],
  [2, 8, 14],
  [3, 9, 15],
  [4, 10, 5],
] as const;

/** The MD5 of crypt(3), `$1$`, and Apache's, `$apr1$`, which differs in this name alone. */
export const md5Crypt: Scheme = (encoded) => {
  if (!/^\$(?:1|apr1)\$/.test(encoded)) return undefined;
  const [, name, salt = "", wanted = ""] = form.exec(encoded) ?? [];
  if (name === undefined) throw malformed("$1$<1 to 8 characters of salt>$<22 of hash>");
  return {
    scheme: "md5-crypt",
    matches: (password) =>
      equalTexts(digestText(Buffer.from(password), `$${name}$`, Buffer.from(salt)), wanted),
  };
};

const md5 = (...parts: Uint8Array[]): Buffer => hash("md5", Buffer.concat(parts), "buffer");

function digestText(password: Buffer, magic: string, salt: Buffer): string {
  const inner = md5(password, salt, password);
  const outer = [password, Buffer.from(magic), salt];
  for (let left = password.length; left > 0; left -= 16) outer.push(inner.subarray(0, left));
  // By the bits of the length, a zero or the first character: a slip of the first program, kept ever since.
  for (let bits = password.length; bits > 0; bits >>= 1)
    outer.push(bits % 2 === 1 ? Buffer.of(0) : password.subarray(0, 1));
  let digest = md5(...outer);
  for (let round = 0; round < rounds; round++) {
    const isOdd = round % 2 === 1;
    const parts = [isOdd ? password : digest];
    if (round % 3 !== 0) parts.push(salt);
    if (round % 7 !== 0) parts.push(password);
    parts.push(isOdd ? digest : password);
    digest = md5(...parts);
  }
  const at = (index: number) => digest[index] ?? 0;
  const text = groups.map(([a, b, c]) => cryptDigitsOf((at(a) << 16) | (at(b) << 8) | at(c), 4));
  return text.join("") + cryptDigitsOf(at(11), 2);
}
