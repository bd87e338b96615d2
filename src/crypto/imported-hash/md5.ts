import { hash } from "node:crypto";
import { equalInConstantTime } from "../digests.ts";
import { fromBase64 } from "./base64.ts";
import { malformed, type Scheme } from "./scheme.ts";

const salted = /^\$md5salted-(prefix|suffix)\$([^$]+)\$([^$]+)$/;

/** MD5 of the password as 32 hexadecimal digits, and `$md5salted-prefix$<salt>$<hash>`, `-suffix`. */
export const md5: Scheme = (encoded) => {
  if (/^[0-9a-f]{32}$/i.test(encoded)) return plain("md5", "", "", Buffer.from(encoded, "hex"));
  if (!encoded.startsWith("$md5salted")) return undefined;
  const [, saltPosition, salt = "", base64 = ""] = salted.exec(encoded) ?? [];
  const wanted = fromBase64(base64);
  if (wanted?.length !== 16) throw malformed("$md5salted-suffix$<salt>$<hash in base64>");
  // The salt is used as it is written, though it is mostly written in base64.
  return saltPosition === "prefix"
    ? plain("md5-salted", salt, "", wanted)
    : plain("md5-salted", "", salt, wanted);
};

const plain = (scheme: string, before: string, after: string, wanted: Buffer) => ({
  scheme,
  matches: (password: string) =>
    equalInConstantTime(hash("md5", before + password + after, "buffer"), wanted),
});
