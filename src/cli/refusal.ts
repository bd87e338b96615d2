import { DomainError } from "../errors.ts";
import { exitCodes } from "./context.ts";

/** What the system says by a code, in words. */
const troubles: readonly (readonly [codes: RegExp, words: string])[] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|53100)$/, "no space is left on the disk"],
  [/^(EROFS|SQLITE_READONLY.*)$/, "the file system, or the file, is read-only"],
  [/^(EACCES|EPERM|SQLITE_PERM)$/, "the system does not permit it"],
  [/^(EIO|SQLITE_IOERR.*)$/, "the disk fails"],
  [/^(EMFILE|ENFILE)$/, "too many files are open"],
  [/^ENOENT$/, "there is no such file or folder"],
  [/^(ENOTDIR|EISDIR)$/, "a folder is needed where a file is, or a file where a folder is"],
];
const mostCauses = 5;

/**
 * How a command ends that failed: one line for what the one who runs it can do something about, and the stack of a defect.
 *
 * @returns the text for standard error, and the exit code
 */
export function refusalOf(error: unknown): { text: string; code: number } {
  if (error instanceof DomainError) {
    const { message, reason, kind } = error;
    const words = troubleOf(error.cause)?.words;
    const why = words === undefined || message.includes(words) ? "" : ` (${words})`;
    const code = kind === "invalidArgument" ? exitCodes.usage : exitCodes.failed;
    return { text: `idsvc: ${message}${why} (${reason})\n`, code };
  }
  const trouble = troubleOf(error);
  const text =
    trouble !== undefined && error instanceof Error
      ? `${error.message}: ${trouble.words} (${trouble.code})`
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  return { text: `idsvc: ${text}\n`, code: exitCodes.failed };
}

/** What the system said, of an error or of what caused it. */
function troubleOf(error: unknown): { code: string; words: string } | undefined {
  let cause = error;
  for (let depth = 0; depth < mostCauses && cause instanceof Error; depth++) {
    const code = "code" in cause ? String(cause.code) : "";
    const [, words] = troubles.find(([codes]) => codes.test(code)) ?? [];
    if (words !== undefined) return { code, words };
    ({ cause } = cause);
  }
  return undefined;
}
