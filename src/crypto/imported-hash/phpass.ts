import { hash } from "node:crypto";
import { cryptBase64, cryptDigit } from "./base64.ts";
import { checkCost, equalTexts, malformed, type Scheme } from "./scheme.ts";

const portable = /^\$[PH]\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{22})$/;
const drupal = /^\$S\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{43})$/;

/** The portable hashes of phpass: MD5 over and over (`$P$`, and phpBB's `$H$`). */
export const phpass: Scheme = (encoded) =>
  /^\$[PH]\$/.test(encoded) ? read("phpass", "md5", portable, encoded) : undefined;

/** Drupal 7: as phpass, with SHA-512, of which only the first 43 characters are kept. */
export const drupal7: Scheme = (encoded) =>
  encoded.startsWith("$S$") ? read("drupal7", "sha512", drupal, encoded) : undefined;

function read(scheme: string, digest: "md5" | "sha512", form: RegExp, encoded: string) {
  const [, cost = "", salt = "", wanted = ""] = form.exec(encoded) ?? [];
  if (wanted === "")
    throw malformed(
      `${encoded.slice(0, 3)}<cost><8 characters of salt>, and then ${digest === "md5" ? 22 : 43} of hash`,
    );
  const log2 = cryptDigit(cost);
  checkCost("cost", log2, 7, 20);
  return {
    scheme,
    matches(password: string): boolean {
      const bytes = Buffer.from(password);
      let state = hash(digest, Buffer.concat([Buffer.from(salt), bytes]), "buffer");
      for (let round = 2 ** log2; round > 0; round--)
        state = hash(digest, Buffer.concat([state, bytes]), "buffer");
      return equalTexts(cryptBase64(state).slice(0, wanted.length), wanted);
    },
  };
}
