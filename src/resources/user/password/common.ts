import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { caseFold } from "../../../storage/case-fold.ts";

/**
 * So many bytes of a digest stand for a password: of a million passwords that are none of the list, less than one is taken for one
 * that is.
 */
export const digestBytes = 5;

const file = join(import.meta.dirname, "../../../../third_party/passwords/common.bin");
let read: WeakRef<Buffer> | undefined;

function digests(): Buffer {
  const kept = read?.deref();
  if (kept !== undefined) return kept;
  const all = readFileSync(file);
  read = new WeakRef(all);
  return all;
}

/** What stands for a password in the list, in whatever letter case it is typed. */
export const commonDigest = (password: string): Buffer =>
  createHash("sha256").update(caseFold(password)).digest().subarray(0, digestBytes);

/**
 * Whether a password is one of the 230,000 that are tried first, in whatever letter case (`third_party/passwords/NOTICE`). The list
 * (1 MB) is read when it is asked, since few starts need it, and kept until memory is collected.
 */
export function isCommonPassword(password: string): boolean {
  const known = digests();
  const wanted = commonDigest(password);
  let [from, to] = [0, known.length / digestBytes];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const order = wanted.compare(known, middle * digestBytes, (middle + 1) * digestBytes);
    if (order === 0) return true;
    // The digest in the middle comes before the one that is looked for.
    if (order > 0) from = middle + 1;
    else to = middle;
  }
  return false;
}
