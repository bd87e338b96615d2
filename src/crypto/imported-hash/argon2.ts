import { parseOptions, verifySync } from "@node-rs/argon2";
import { fromBase64 } from "./base64.ts";
import { checkCost, malformed, type Scheme } from "./scheme.ts";

const form =
  /^\$(argon2(?:id|i|d))(?:\$v=(?:16|19))?\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$([^$]+)\$([^$]+)$/;
const right = "$argon2id$v=19$m=<KiB>,t=<passes>,p=<lanes>$<salt>$<hash> in base64 without padding";

/** argon2i, argon2d and argon2id as PHC strings (RFC 9106). */
export const argon2: Scheme = (encoded) => {
  if (!encoded.startsWith("$argon2")) return undefined;
  const [, scheme, memory, passes, lanes, salt = "", hash = ""] = form.exec(encoded) ?? [];
  if (scheme === undefined) throw malformed(right);
  const [memoryKib, timeCost, parallelism] = [Number(memory), Number(passes), Number(lanes)];
  checkCost("p", parallelism, 1, 16);
  checkCost("m", memoryKib, 8 * parallelism, 512 * 1024);
  checkCost("t", timeCost, 1, 10);
  checkCost("m times t", memoryKib * timeCost, 1, 1024 * 1024);
  const [saltBytes, hashBytes] = [fromBase64(salt), fromBase64(hash)];
  if (!saltBytes || !hashBytes || saltBytes.length < 8 || hashBytes.length < 16)
    throw malformed(right);
  const unpadded = encoded.replaceAll("=$", "$").replace(/=+$/, "");
  try {
    parseOptions(unpadded);
  } catch {
    throw malformed(right);
  }
  return { scheme, matches: (password) => verifySync(unpadded, password) };
};
