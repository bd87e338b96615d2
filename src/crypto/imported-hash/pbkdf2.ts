import { pbkdf2Sync } from "node:crypto";
import { equalInConstantTime } from "../digests.ts";
import { fromBase64 } from "./base64.ts";
import { checkCost, malformed, type Scheme } from "./scheme.ts";

const form = /^\$pbkdf2(-[a-z0-9]+)?\$(\d{1,10})\$([^$]+)\$([^$]+)$/;
const right = "$pbkdf2-sha256$<iterations>$<salt>$<hash> in base64";

const digests = new Map([
  [undefined, { digest: "sha1", length: 20 }],
  ["-sha1", { digest: "sha1", length: 20 }],
  ["-sha224", { digest: "sha224", length: 28 }],
  ["-sha256", { digest: "sha256", length: 32 }],
  ["-sha384", { digest: "sha384", length: 48 }],
  ["-sha512", { digest: "sha512", length: 64 }],
]);

/**
 * PBKDF2 (RFC 8018) as `$<algorithm>$<iterations>$<salt>$<hash>`; without a digest in the name it is SHA-1. Salt and
 * hash are base64, padded or not, in the standard alphabet or passlib's.
 */
export const pbkdf2: Scheme = (encoded) => {
  if (!/^\$pbkdf2(?:-|\$)/.test(encoded)) return undefined;
  const [, name, count, salt = "", hash = ""] = form.exec(encoded) ?? [];
  const found = digests.get(name);
  const [saltBytes, wanted] = [fromBase64(salt), fromBase64(hash)];
  if (!found || !saltBytes || !wanted || wanted.length < 16 || wanted.length > 128)
    throw malformed(right);
  const iterations = Number(count);
  // Each stretch of the digest's length takes all iterations.
  const blocks = Math.ceil(wanted.length / found.length);
  checkCost("iterations", iterations, 1, 5_000_000);
  checkCost("iterations for the length of the hash", iterations * blocks, 1, 5_000_000);
  return {
    scheme: `pbkdf2-${found.digest}`,
    matches: (password) =>
      equalInConstantTime(
        pbkdf2Sync(password, saltBytes, iterations, wanted.length, found.digest),
        wanted,
      ),
  };
};
