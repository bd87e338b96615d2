import { scryptSync } from "node:crypto";
import { equalInConstantTime } from "../digests.ts";
import { cryptBase64, cryptDigit, fromBase64 } from "./base64.ts";
import { checkCost, equalTexts, type ImportedHash, malformed, type Scheme } from "./scheme.ts";

const phcForm = /^\$(?:scrypt|7)\$ln=(\d{1,2}),r=(\d{1,10}),p=(\d{1,10})\$([^$]+)\$([^$]+)$/;
const cryptForm =
  /^\$7\$([./A-Za-z0-9])([./A-Za-z0-9]{5})([./A-Za-z0-9]{5})([^$]+)\$([./A-Za-z0-9]{43})$/;
const right = "$scrypt$ln=<log2 N>,r=<r>,p=<p>$<salt>$<hash> in base64";
const mebibyte = 1024 * 1024;

/** scrypt (RFC 7914) as passlib writes it, and in the form of crypt(3), `$7$`. */
export const scrypt: Scheme = (encoded) => {
  if (!/^\$(?:scrypt|7)\$/.test(encoded)) return undefined;
  const phc = phcForm.exec(encoded);
  if (phc) {
    const [, ln, r, p, salt = "", hash = ""] = phc;
    const [saltBytes, wanted] = [fromBase64(salt), fromBase64(hash)];
    if (!saltBytes || !wanted || wanted.length < 16 || wanted.length > 128) throw malformed(right);
    const derive = derivation(Number(ln), Number(r), Number(p), saltBytes, wanted.length);
    return hashOf((password) => equalInConstantTime(derive(password), wanted));
  }
  const [, ln = "", r = "", p = "", salt = "", hash = ""] = cryptForm.exec(encoded) ?? [];
  if (hash === "") throw malformed(right);
  const derive = derivation(cryptDigit(ln), cryptNumber(r), cryptNumber(p), Buffer.from(salt), 32);
  return hashOf((password) => equalTexts(cryptBase64(derive(password)), hash));
};

const hashOf = (matches: ImportedHash["matches"]): ImportedHash => ({ scheme: "scrypt", matches });

function derivation(ln: number, r: number, p: number, salt: Buffer, length: number) {
  checkCost("r", r, 1, 32);
  checkCost("p", p, 1, 16);
  checkCost("ln", ln, 1, 22);
  // 2^22 is half a gibibyte, or a second and a half.
  checkCost("N times r times p", 2 ** ln * r * p, 1, 2 ** 22);
  const cost = { N: 2 ** ln, r, p, maxmem: 128 * 2 ** ln * r + 64 * mebibyte };
  return (password: string): Buffer => scryptSync(password, salt, length, cost);
}

const cryptNumber = (digits: string): number =>
  [...digits].reduce((sum, digit, at) => sum + cryptDigit(digit) * 64 ** at, 0);
