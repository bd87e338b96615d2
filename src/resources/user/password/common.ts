import { caseFold } from "../../../storage/case-fold.ts";

let known: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password is one of the 49000 that are tried first, in whatever letter case.
 *
 * The list is that of zxcvbn-ts; it is loaded by the first who asks, since few starts need it.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  known ??= import("@zxcvbn-ts/language-common").then(
    ({ dictionary }) => new Set(dictionary["passwords-common"]),
  );
  return (await known).has(caseFold(password));
}
